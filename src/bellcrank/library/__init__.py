"""Ready parts for vehicles, built from public names: terrain, contact, partial vehicles, whole vehicles."""
