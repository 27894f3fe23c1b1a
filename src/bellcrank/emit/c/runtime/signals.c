/* ---- inputs as functions of time */

@KINDS@
static real input_value(const Input *in, real t)
{
    const real two_pi = 6.283185307179586, *a = in->a;
    switch (in->kind) {
@CASES@    default: /* PIECES */
        return spline_value(in->n, in->x, in->pieces, in->rate, t);
    }
}

