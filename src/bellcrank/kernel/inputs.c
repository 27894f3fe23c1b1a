/* ---- inputs as functions of time */

#include "spline.c"
#include "tables/signals.c"

/* All inputs at a time; nonzero if one of them failed. */
static int set_inputs(GIVEN const Job *job, real t, real *w)
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
