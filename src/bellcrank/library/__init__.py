"""Ready parts for vehicles, built from public names: terrain, contact with the ground, partial vehicles, whole vehicles."""
