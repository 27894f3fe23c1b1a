/* Where a condition changes its sign between two times: regula falsi (Illinois), halved where that is slow. */
static double event_zero_between(@RUN_DECLARED@, int event, int side, double a, double b, double fa, double fb,
    double small)
{
    double width = fabs(b - a);
    for (int count = 0; count < @MOST_LOOKS@; count++) {
        double c = b - fb*(b - a)/(fb - fa);
        if (count % 2) {
            if (fabs(b - a) > 0.5*width)
                c = a + 0.5*(b - a);
            width = fabs(b - a);
        }
        if (fabs(c - b) < 0.5*small) /* a little beyond: the zero may lie just there */
            c = b + copysign(0.5*small, a - b);
        if (!(fmin(a, b) < c && c < fmax(a, b)))
            c = a + 0.5*(b - a);
        const double fc = side*event_at_time(@RUN@, event, c);
        if ((fc > 0.0) == (fb > 0.0))
            fa *= 0.5;
        else {
            a = b;
            fa = fb;
        }
        b = c;
        fb = fc;
        if (fc == 0.0 || fabs(b - a) <= small)
            break;
    }
    return b;
}

/* The time at which a condition comes to a side, between one at which it is not there and one at which it is. */
static double event_crossing(@RUN_DECLARED@, int event, int side, double a, double b, double ga, double gb)
{
    const double small = 1e-15*fmax(1.0, fabs(b)), first = a, last = b;
    if (side*ga < 0.0 && 0.0 < side*gb) {
        const double root = event_zero_between(@RUN@, event, side, a, b, side*ga, side*gb, small);
        const double left = root == a ? ga : root == b ? gb : event_at_time(@RUN@, event, root);
        if (fabs(left) <= EVENT_JUMP*fmin(fabs(ga), fabs(gb)))
            return root;
    }
    while (b - a > small) { /* from zero: a jump, or a start */
        const double middle = 0.5*(a + b);
        if (!(a < middle && middle < b))
            break;
        const double g = middle == first ? ga : middle == last ? gb : event_at_time(@RUN@, event, middle);
        if (event_is_over(event, g, side))
            b = middle;
        else
            a = middle;
    }
    return b;
}
