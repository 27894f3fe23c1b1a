enum { CONSTANT, STEP, RAMP, SINE, CHIRP, PULSE, PIECES, FUNCTION };

static real input_value(const Input *in, real t)
{
    const real two_pi = 6.283185307179586, *a = in->a;
    switch (in->kind) {
    case CONSTANT: { /* value */
        if (in->rate == 0)
            return a[0];
        if (in->rate == 1)
            return 0.0;
        return 0.0;
    }
    case STEP: { /* at, height, before */
        return a[2] + (t >= a[0] ? a[1] : 0.0);
    }
    case RAMP: { /* start, slope, end */
        if (in->rate == 0)
            return a[1]*(fmin(fmax(t, a[0]), fmax(a[0], a[2])) - a[0]);
        return t >= a[0] && t < a[2] ? a[1] : 0.0;
    }
    case SINE: { /* amplitude, frequency, phase, start */
        const real w = two_pi*a[1];
        const real turned = w*(t - a[3]) + a[2];
        if (in->rate == 0)
            return t < a[3] ? 0.0 : a[0]*sin(turned);
        if (in->rate == 1)
            return t < a[3] ? 0.0 : a[0]*w*cos(turned);
        return t < a[3] ? 0.0 : (-w)*w*a[0]*sin(turned);
    }
    case CHIRP: { /* amplitude, f0, f1, duration, start */
        const real passed = fmax(t - a[4], 0.0);
        const real inside = fmin(passed, a[3]);
        const real k = (a[2] - a[1])/a[3];
        const real turned = two_pi*(a[1]*inside + 0.5*k*inside*inside + a[2]*(passed - inside));
        const real w = two_pi*(a[1] + k*inside);
        const real growth = passed < a[3] ? two_pi*k : 0.0;
        if (in->rate == 0)
            return t < a[4] ? 0.0 : a[0]*sin(turned);
        if (in->rate == 1)
            return t < a[4] ? 0.0 : a[0]*w*cos(turned);
        return t < a[4] ? 0.0 : a[0]*(growth*cos(turned) - w*w*sin(turned));
    }
    case PULSE: { /* start, width, height */
        const real w = two_pi/a[1];
        const real passed = t - a[0];
        if (in->rate == 0)
            return passed > 0.0 && passed < a[1] ? a[2]*(0.5 - 0.5*cos(w*passed)) : 0.0;
        if (in->rate == 1)
            return passed > 0.0 && passed < a[1] ? 0.5*a[2]*w*sin(w*passed) : 0.0;
        return passed > 0.0 && passed < a[1] ? 0.5*a[2]*w*w*cos(w*passed) : 0.0;
    }
    default: /* PIECES */
        return spline_value(in->n, in->x, in->pieces, in->rate, t);
    }
}
