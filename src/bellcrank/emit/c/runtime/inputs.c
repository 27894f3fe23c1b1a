/* ---- inputs as functions of time */

enum { CONSTANT, STEP, RAMP, SINE, CHIRP, PIECES, FUNCTION };

static real input_value(const Input *in, real t)
{
    const real two_pi = 6.283185307179586, *a = in->a;
    switch (in->kind) {
    case STEP: /* at, height, before */
        return a[2] + (t >= a[0] ? a[1] : 0.0);
    case RAMP: { /* start, slope, end */
        const real inside = t < a[0] ? a[0] : t > a[2] ? a[2] : t;
        return in->rate ? (t >= a[0] && t < a[2] ? a[1] : 0.0) : a[1]*(inside - a[0]);
    }
    case SINE: { /* amplitude, frequency, phase, start */
        const real w = two_pi*a[1], phase = w*(t - a[3]) + a[2];
        return t < a[3] ? 0.0 : in->rate == 1 ? a[0]*w*cos(phase) : (in->rate ? -w*w : 1.0)*a[0]*sin(phase);
    }
    case CHIRP: { /* amplitude, first frequency, last frequency, duration, start */
        const real s = t > a[4] ? t - a[4] : 0.0, inside = s < a[3] ? s : a[3], k = (a[2] - a[1])/a[3];
        const real phase = two_pi*(a[1]*inside + 0.5*k*inside*inside + a[2]*(s - inside));
        const real w = two_pi*(a[1] + k*inside), growth = s < a[3] ? two_pi*k : 0.0;
        if (t < a[4] || in->rate == 0)
            return t < a[4] ? 0.0 : a[0]*sin(phase);
        return in->rate == 1 ? a[0]*w*cos(phase) : a[0]*(growth*cos(phase) - w*w*sin(phase));
    }
    case PIECES:
        return spline_value(in->n, in->x, in->pieces, in->rate, t);
    default: /* CONSTANT */
        return in->rate ? 0.0 : a[0];
    }
}

/* All inputs at a time; nonzero if one of them failed. */
static int set_inputs(const Job *job, real t, real *w)
{
    for (int i = 0; i < N_I; i++) {
        const Input *in = &job->inputs[i];
        if (in->kind == CONSTANT && !in->rate)
            w[i] = in->scale*in->a[0];
        else if (in->kind != FUNCTION)
            w[i] = in->scale*input_value(in, t);
        else if (job->function(i, t, &w[i]))
            return 1;
    }
    return 0;
}
