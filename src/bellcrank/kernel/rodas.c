/* ---- stiff steps without iterations: Rosenbrock's method Rodas5P (Steinebach, BIT 63 (2023) 27) */

#include "tables/rodas.h"

/* A sum of stages, some of which have no weight. */
static void add_stages(GIVEN const real *weights, int n, const real *U, real scale, real *to)
{
    for (int i = 0; i < n; i++)
        if (weights[i] != 0.0)
            for (int j = 0; j < N_S; j++)
                to[j] += scale*weights[i]*U[i*(N_S + 1) + j];
}

/* The slope of the rates by time, at a state where they are job->k. */
static int slope_by_time(GIVEN Job *job, real h, real *found, real *w)
{
    const real moved = job->t + (MOMENT*h + DIFFERENCE*fabs(job->t));
    const real *k = job->k;
    ARRAY(real, again, N_S);
    if (REMEMBERS) { /* what they remember has changed since */
        const int bad = stage_rates(HERE job, job->t, job->y, again, w);
        if (bad)
            return bad;
        k = again;
    }
    const int failed = stage_rates(HERE job, moved, job->y, found, w);
    for (int j = 0; j < N_S; j++)
        found[j] = (found[j] - k[j])/(moved - job->t);
    return failed;
}

/* The state within the last step at x of it, less that at its start. */
static real rodas_within(const Work *a, int j, real x)
{
    return x*(a->part[3][j] + (1.0 - x)*(a->part[0][j] + x*(a->part[1][j] + x*a->part[2][j])));
}

/* One step that is accepted; -1 if it comes near a singular position. */
static int rodas_step(GIVEN Job *job, real *w)
{
    Work *a = (Work *)job->work;
    Stiff *s = stiff_of(job);
    ARRAY(real, next, N_S);
    ARRAY(real, error, N_S);
    ARRAY(real, weight, N_S);
    ARRAY(real, by_time, N_S);
    ARRAY(real, U, RODAS_STAGES*(N_S + 1));
    ARRAY(real, loose, N_S); /* before loops are closed */
    real size;
    int failed;
    if (!a->under_way) {
        if ((failed = begin_stretch(HERE job, RODAS_FIRST_ORDER, w)))
            return failed;
        s->before = 0.0;
        a->memory = PATIENT;
    }
    s->known = 0;
    memset(by_time, 0, N_S*sizeof *by_time);
    for (;;) {
        real h, t;
        if ((failed = next_step(job, &h, &t)))
            return failed;
        if (!s->known && ((failed = find_slopes(HERE job, job->t, job->y, job->k, w))
            || (failed = slope_by_time(HERE job, h, by_time, w))))
            return failed;
        if (s->factored != h) {
            job->factors++;
            s->factored = h;
            if (factor_real(HERE s, 1.0/(h*RODAS_GAMMA))) {
                s->factored = 0.0;
                job->rejected++;
                a->rejected = 1;
                a->h = 0.5*h;
                continue;
            }
        }
        for (int i = 0; i < RODAS_STAGES; i++) {
            memcpy(next, job->y, N_S*sizeof *next);
            add_stages(HERE RODAS_A[i], i, U, 1.0, next);
            if (i == 0)
                memcpy(a->k[0], job->k, N_S*sizeof *job->k);
            else if ((failed = stage_rates(HERE job, job->t + RODAS_NODE[i]*h, next, a->k[i], w)))
                return failed;
            real *const stage = U + i*(N_S + 1);
            for (int j = 0; j < N_S; j++)
                stage[j] = a->k[i][j] + h*RODAS_D[i]*by_time[j];
            add_stages(HERE RODAS_C[i], i, U, 1.0/h, stage);
            solve_real(HERE s, stage);
        }
        memcpy(next, job->y, N_S*sizeof *next);
        add_stages(HERE RODAS_B, RODAS_STAGES, U, 1.0, next);
        memset(error, 0, N_S*sizeof *error);
        add_stages(HERE RODAS_E, RODAS_STAGES, U, 1.0, error);
        find_weights(HERE job, job->y, next, weight);
        size = weighed_size(HERE error, weight);
        told_errors(HERE job, error, weight);
        if (!(size <= 1.0) || !all_finite(HERE next)) {
            reject_step(HERE job, h, SAFETY, RODAS_EXPONENT, size, next, error);
            continue;
        }
        memcpy(loose, next, N_S*sizeof *loose);
        if ((failed = admit_step(HERE job, h, t, next, a->k[RODAS_STAGES - 1], w)) > 0 && job->near)
            return -1;
        if (failed > 0)
            continue;
        if (failed)
            return -failed;
        a->h = h*stiff_growth(job, h, SAFETY, RODAS_EXPONENT, RODAS_GROWTH, size);
        for (int i = 0; i < 3; i++) {
            memset(a->part[i], 0, N_S*sizeof *a->part[i]);
            add_stages(HERE RODAS_H[i], RODAS_STAGES, U, 1.0, a->part[i]);
        }
        for (int j = 0; j < N_S; j++)
            a->part[3][j] = loose[j] - job->y[j];
        memcpy(a->from, job->y, N_S*sizeof *job->y);
        a->was_implicit = 1;
        note_step(job, h);
        return take_step(HERE job, t, next, NULL, w);
    }
}

