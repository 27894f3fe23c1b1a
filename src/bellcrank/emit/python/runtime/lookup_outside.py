if not (@WITHIN@):
    return (math.nan,) * @VALUES@
