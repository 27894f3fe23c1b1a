if (!(@WITHIN@)) {
    for (int k = 0; k < @VALUES@; k++)
        v[k] = NAN;
    return;
}
