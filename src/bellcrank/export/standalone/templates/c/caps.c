/* Sizes up to which states count for the relative tolerance: a turn, and the largest length of the model. */
static void find_caps(const double *p, const double *y, double *caps)
{
    enum { NO_GROWTH, GROWS_BY_TURNS, GROWS_ALONG };
    static const int grows[] = {@GROWTHS@}, is_length[] = {@IS_LENGTH@};
    double length = 0.0;
    for (int i = 0; i < N_P; i++)
        if (is_length[i])
            length = fmax(length, fabs(p[i]));
    for (int j = 0; j < N_S; j++)
        if (grows[j] == GROWS_ALONG)
            length = fmax(length, fabs(y[j]));
    for (int j = 0; j < N_S; j++)
        caps[j] = grows[j] == NO_GROWTH ? HUGE_VAL : grows[j] == GROWS_ALONG ? (length > 0.0 ? length : @METRE@)
            : 2.0*acos(-1.0);
}

