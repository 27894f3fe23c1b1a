/* ---- closed loops: a state is brought onto the constraints by the smallest change */

#include "tables/loops.h"
#include "tables/bridges.h"
#include "length.c"
#include "least_norm.c"
enum { N_VISIT = sizeof((Job *)0)->visit/sizeof(real) };
#define DIVIDED 2.0             /* in the place of a ratio: a step was halved, as it needed a large correction */

static real largest(int n, const real *x)
{
    real most = 0.0;
    for (int i = 0; i < n; i++)
        if (!(fabs(x[i]) <= most))
            most = fabs(x[i]);
    return most;
}

#if HAS_BRIDGES
#include "bridge.c"
#endif
/* Do the equations of a state, all, with its curves in the place of rows, hold where rows are
   lost? */
static int put_curves(GIVEN const Job *job, const real *y, real *all)
{
    return MODEL_HAS(BRIDGES) && job->near ? put_bridges(HERE job, y, all) : 0;
}

/* The same as `project` near a singular position: in the metric of M, in which errors across the branch do not become
   errors along it, and over bridges. At the end of a step, how near it is to one is left in the job, too. */
static int project_near(GIVEN Job *job, real t, real *y, real *w, int at_end)
{
    ARRAY(real, all, N_SYSTEM);
    ARRAY(real, right, N_V);
    ARRAY(real, x, N_U);
    ARRAY(real, q, N_Q);
    real before = HUGE_VAL;
    job->moved = job->residual = 0.0;
    if (CLOSURE_INPUTS && set_inputs(HERE job, t, w))
        return INPUT_FAILED;
    job->externals->live = 0;
    unit_sizes(HERE job, t, y, w);
    system_at(t, y, y + N_Q, job->p, job->c, w, all, job->externals);
    job->worst = 0;
    for (int i = 1; i < N_G; i++)
        if (fabs(all[AT_G + i]) > fabs(all[AT_G + job->worst]))
            job->worst = i;
    find_bridges(HERE job, t, y, all + AT_J, w);
    for (int n = 0;; n++) {
        if (at_end && n <= 1)
            look_at_pivots(HERE all + AT_J, &job->ratio, &job->steady);
        const int bridged = put_curves(HERE job, y, all);
        const real size = residual(HERE all);
        const int closed = n == CORRECTIONS || size < TIGHT || (size >= before && size < CLOSED);
        before = size;
        memset(right, 0, N_V*sizeof *right);
        add_g(HERE all, 1.0, right);
        const real ratio = reduced(HERE all + AT_M, NULL, all + AT_J, closed ? all + AT_V : right, bridged, x);
        if (n == 0 && !(ratio > SINGULAR) && !bridged)
            break;
        if (closed) {
            job->residual = size;
            for (int j = 0; j < N_U; j++)
                y[N_Q + j] -= x[j];
            break;
        }
        memcpy(q, y, N_Q*sizeof *q);
        shift(HERE job, t, q, x, -1.0, y, w);
        for (int j = 0; j < N_Q; j++)
            q[j] -= y[j];
        job->moved += length(N_Q, q);
        system_at(t, y, y + N_Q, job->p, job->c, w, all, job->externals);
    }
    return job->externals->failed ? EXTERNAL_FAILED : FINISHED;
}

/* Corrects q so that the loops are closed, then u so that they stay closed; in a singular position neither. What had
   to be done is left in the job. */
static int project(GIVEN Job *job, real t, real *y, real *w, real small)
{
    ARRAY(real, all, N_G*(1 + N_Q) + N_V*(1 + N_U) + 1);
    ARRAY(real, change, N_S + 1);
    real *q = y, *u = y + N_Q;
    const real *g = all, *G = g + N_G, *v = G + N_G*N_Q, *J = v + N_V;
    if (job->near)
        return project_near(HERE job, t, y, w, 1);
    if (CLOSURE_INPUTS && set_inputs(HERE job, t, w))
        return INPUT_FAILED;
    job->externals->live = 0;
    job->moved = job->residual = 0.0;
    closure(t, q, u, job->p, job->c, w, all, job->externals);
    look_at_pivots(HERE J, &job->ratio, &job->steady);
    job->worst = 0;
    for (int i = 1; i < N_G; i++)
        if (fabs(g[i]) > fabs(g[job->worst]))
            job->worst = i;
    if (!(job->ratio > SINGULAR))
        return job->externals->failed ? EXTERNAL_FAILED : FINISHED;
    for (int n = 0; n < CORRECTIONS && !(largest(N_G, g) < small); n++) {
        least_norm(HERE N_G, N_Q, N_RG, job->root_q, G, g, change);
        job->moved += length(N_Q, change);
        for (int j = 0; j < N_Q; j++)
            q[j] -= change[j];
        closure(t, q, u, job->p, job->c, w, all, job->externals);
        if (n == 0)
            look_at_pivots(HERE J, &job->ratio, &job->steady);
    }
    job->residual = largest(N_G, g);
    least_norm(HERE N_V, N_U, N_RV, job->root_u, J, v, change);
    for (int j = 0; j < N_U; j++)
        u[j] -= change[j];
    return job->externals->failed ? EXTERNAL_FAILED : FINISHED;
}

#if HAS_CORRECTION
#include "correction.c"
#include "staged_rates.c"
#endif
/* Accelerations by the parabola, line or constant through those of the last regular steps. */
static void extrapolate(GIVEN const Job *job, real t, real *ud)
{
    const int W = 1 + N_U;
    for (int j = 0; j < N_U; j++)
        ud[j] = 0.0;
    for (int i = 0; i < job->n_past; i++) {
        real share = 1.0;
        for (int k = 0; k < job->n_past; k++)
            if (k != i)
                share *= (t - job->past[k*W])/(job->past[i*W] - job->past[k*W]);
        for (int j = 0; j < N_U; j++)
            ud[j] += share*job->past[i*W + 1 + j];
    }
}

/* Rates near a singular position: the state is brought onto the constraints first. In it, where there is no bridge,
   accelerations are extrapolated. */
static int wary_rates(GIVEN Job *job, real t, const real *y, real *k, real *w)
{
    ARRAY(real, all, N_SYSTEM);
    ARRAY(real, state, N_S);
    memcpy(state, y, N_S*sizeof *state);
    if (job->near) {
        const int live = job->externals->live, failed = project_near(HERE job, t, state, w, 0);
        if (failed)
            return failed;
        job->externals->live = live;
    }
    system_at(t, state, state + N_Q, job->p, job->c, w, all, job->externals);
    const int bridged = put_curves(HERE job, state, all);
    memcpy(k, all, N_Q*sizeof *k);
    const real ratio = reduced(HERE all + AT_M, all + AT_F, all + AT_J, all + AT_GAMMA, bridged, k + N_Q);
    if (!(ratio > SINGULAR) && !bridged && job->n_past > 0)
        extrapolate(HERE job, t, k + N_Q);
    return job->externals->failed ? EXTERNAL_FAILED : FINISHED;
}

/* Keeps a book of what is told of a run. */
static void book(Job *job, const real *what)
{
    if (job->n_passages < job->most_passages)
        memcpy(job->passages + N_VISIT*job->n_passages, what, N_VISIT*sizeof *what);
    job->n_passages++;
}

/* Visits near singular positions: when each was nearest, the ratio of pivots there, and what carried it. */
static void visit(GIVEN Job *job, real t, const real *y)
{
    const real ratio = job->ratio;
    job->near = ratio < WATCHED;
    job->wary = job->near || job->steady < WATCHED;
    if (ratio < NEAR) {
        if (ratio < job->visit[1]) {
            job->visit[0] = t;
            job->visit[1] = ratio;
        }
    } else if (job->visit[1] < NEAR) {
        if (MODEL_HAS(BRIDGES) && job->visit[2] > 0.0)
            job->visit[4] = in_front(HERE job, (int)job->visit[2] - 1, y); /* a long step may have passed it */
        book(job, job->visit);
        memset(job->visit, 0, sizeof job->visit);
        job->visit[1] = 1.0;
    }
    if (MODEL_HAS(BRIDGES) && (job->wary || job->curves))
        visit_bridges(HERE job, y);
    job->curves = MODEL_HAS(BRIDGES) && job->wary;
}

/* Rates from which accelerations are extrapolated: those of the last three regular steps, or of the start. */
static void remember(GIVEN Job *job, real t, const real *k)
{
    if (!MODEL_HAS(LOOPS))
        return;
    const int W = 1 + N_U;
    if (job->n_past == 3)
        memmove(job->past, job->past + W, 2*W*sizeof *job->past);
    else
        job->n_past++;
    real *last = job->past + (job->n_past - 1)*W;
    last[0] = t;
    memcpy(last + 1, k + N_Q, N_U*sizeof *k);
}

/* The end of a step. */
static void accept(GIVEN Job *job, real t, const real *k)
{
    if (!MODEL_HAS(LOOPS))
        return;
    if (job->ratio > SINGULAR)
        remember(HERE job, t, k);
    visit(HERE job, t, job->y);
}

/* The start of a run: is it near a singular position? In one, it is brought onto its branch. */
static int begin(GIVEN Job *job, real t, real *w)
{
    ARRAY(real, all, N_G*(1 + N_Q) + N_V*(1 + N_U) + 1);
    const real *J = all + N_G*(1 + N_Q) + N_V;
    real *y = job->y;
    job->from = y;
    if (!MODEL_HAS(LOOPS))
        return FINISHED;
    if (CLOSURE_INPUTS && set_inputs(HERE job, t, w))
        return INPUT_FAILED;
    closure(t, y, y + N_Q, job->p, job->c, w, all, job->externals);
    look_at_pivots(HERE J, &job->ratio, &job->steady);
    if (singular_at_rest(HERE y, J))
        return AT_REST;
    job->near = MODEL_HAS(BRIDGES) && job->ratio < WATCHED;
    if (job->near) {
        find_bridges(HERE job, t, y, J, w);
        for (int b = 0; b < N_BLOCKS; b++)
            if (on_bridge(HERE job, b, y)) {
                const real ratio = job->ratio, steady = job->steady;
                project(HERE job, t, y, w, TIGHT);
                job->ratio = ratio;
                job->steady = steady;
                break;
            }
    }
    visit(HERE job, t, y);
    return job->externals->failed ? EXTERNAL_FAILED : FINISHED;
}

