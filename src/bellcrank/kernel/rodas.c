/* ---- stiff steps without iterations: Rosenbrock's method Rodas5P (Steinebach, BIT 63 (2023) 27) */

#include "tables/rodas.h"

/* A sum of stages, some of which have no weight. */
static void add_stages(const real *weights, int n, real U[][N_S + 1], real scale, real *to)
{
    for (int i = 0; i < n; i++)
        if (weights[i] != 0.0)
            for (int j = 0; j < N_S; j++)
                to[j] += scale*weights[i]*U[i][j];
}

/* The slope of the rates by time, at a state where they are job->k. */
static int slope_by_time(Job *job, real h, real *found, real *w)
{
    const real moved = job->t + (MOMENT*h + DIFFERENCE*fabs(job->t));
    const real *k = job->k;
    real again[N_S];
    if (REMEMBERS) { /* what they remember has changed since */
        const int bad = stage_rates(job, job->t, job->y, again, w);
        if (bad)
            return bad;
        k = again;
    }
    const int failed = stage_rates(job, moved, job->y, found, w);
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
static int rodas_step(Job *job, real *w)
{
    Work *a = (Work *)job->work;
    Stiff *s = stiff_of(job);
    real next[N_S], error[N_S], weight[N_S], by_time[N_S], U[RODAS_STAGES][N_S + 1], size;
    int failed;
    if (!a->under_way) {
        if ((failed = begin_stretch(job, RODAS_FIRST_ORDER, w)))
            return failed;
        s->before = 0.0;
        a->memory = PATIENT;
    }
    s->known = 0;
    memset(by_time, 0, sizeof by_time);
    for (;;) {
        real h, t;
        if ((failed = next_step(job, &h, &t)))
            return failed;
        if (!s->known && ((failed = find_slopes(job, job->t, job->y, job->k, w))
            || (failed = slope_by_time(job, h, by_time, w))))
            return failed;
        if (s->factored != h) {
            job->factors++;
            s->factored = h;
            if (factor_real(s, 1.0/(h*RODAS_GAMMA))) {
                s->factored = 0.0;
                job->rejected++;
                a->rejected = 1;
                a->h = 0.5*h;
                continue;
            }
        }
        for (int i = 0; i < RODAS_STAGES; i++) {
            memcpy(next, job->y, sizeof next);
            add_stages(RODAS_A[i], i, U, 1.0, next);
            if (i == 0)
                memcpy(a->k[0], job->k, sizeof a->k[0]);
            else if ((failed = stage_rates(job, job->t + RODAS_NODE[i]*h, next, a->k[i], w)))
                return failed;
            for (int j = 0; j < N_S; j++)
                U[i][j] = a->k[i][j] + h*RODAS_D[i]*by_time[j];
            add_stages(RODAS_C[i], i, U, 1.0/h, U[i]);
            solve_real(s, U[i]);
        }
        memcpy(next, job->y, sizeof next);
        add_stages(RODAS_B, RODAS_STAGES, U, 1.0, next);
        memset(error, 0, sizeof error);
        add_stages(RODAS_E, RODAS_STAGES, U, 1.0, error);
        find_weights(job, job->y, next, weight);
        size = weighed_size(error, weight);
        told_errors(job, error, weight);
        if (!(size <= 1.0) || !all_finite(next)) {
            reject_step(job, h, SAFETY, RODAS_EXPONENT, size, next, error);
            continue;
        }
        real loose[N_S];
        memcpy(loose, next, sizeof loose);
        if ((failed = admit_step(job, h, t, next, a->k[RODAS_STAGES - 1], w)) > 0 && job->near)
            return -1;
        if (failed > 0)
            continue;
        if (failed)
            return -failed;
        a->h = h*stiff_growth(job, h, SAFETY, RODAS_EXPONENT, RODAS_GROWTH, size);
        memset(a->part, 0, sizeof a->part);
        for (int i = 0; i < 3; i++)
            add_stages(RODAS_H[i], RODAS_STAGES, U, 1.0, a->part[i]);
        for (int j = 0; j < N_S; j++)
            a->part[3][j] = loose[j] - job->y[j];
        memcpy(a->from, job->y, sizeof a->from);
        a->was_implicit = 1;
        note_step(job, h);
        return take_step(job, t, next, NULL, w);
    }
}

