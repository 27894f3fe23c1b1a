/* ---- closed loops: a state is brought onto the constraints by the smallest change */

@TUNING@
@LEAST_NORM@
static real largest(int n, const real *x)
{
    real most = 0.0;
    for (int i = 0; i < n; i++)
        if (!(fabs(x[i]) <= most))
            most = fabs(x[i]);
    return most;
}

/* Corrects q so that the loops are closed, then u so that they stay closed; in a singular position neither. What had to be done
   is left in the job. */
static int project(Job *job, real t, real *y, real *w, real small)
{
    real all[N_G*(1 + N_Q) + N_V*(1 + N_U) + 1], change[N_S + 1], *q = y, *u = y + N_Q;
    const real *g = all, *G = g + N_G, *v = G + N_G*N_Q, *J = v + N_V;
@IF SET@
    if (set_inputs(job, t, w))
        return INPUT_FAILED;
@END@
    job->externals->live = 0;
    job->moved = job->residual = 0.0;
    closure(t, q, u, job->p, job->c, w, all, job->externals);
    job->ratio = pivot_ratio(J);
    job->steady = steady_ratio(J);
    job->worst = 0;
    for (int i = 1; i < N_G; i++)
        if (fabs(g[i]) > fabs(g[job->worst]))
            job->worst = i;
    if (!(job->ratio > SINGULAR))
        return job->externals->failed ? EXTERNAL_FAILED : FINISHED;
    for (int n = 0; n < CORRECTIONS && !(largest(N_G, g) < small); n++) {
        least_norm(N_G, N_Q, N_RG, job->root_q, G, g, change);
        job->moved += length(N_Q, change);
        for (int j = 0; j < N_Q; j++)
            q[j] -= change[j];
        closure(t, q, u, job->p, job->c, w, all, job->externals);
        if (n == 0) {
            job->ratio = pivot_ratio(J);
            job->steady = steady_ratio(J);
        }
    }
    job->residual = largest(N_G, g);
    least_norm(N_V, N_U, N_RV, job->root_u, J, v, change);
    for (int j = 0; j < N_U; j++)
        u[j] -= change[j];
    return job->externals->failed ? EXTERNAL_FAILED : FINISHED;
}

@CORRECTION@/* Accelerations by the parabola, line or constant through those of the last regular steps. */
static void extrapolate(const Job *job, real t, real *ud)
{
    enum { W = 1 + N_U };
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

/* Rates near a singular position: the state is brought onto the constraints first. In it, accelerations are
   extrapolated. */
static int wary_rates(Job *job, real t, const real *y, real *k, real *w)
{
    real found[N_S + 1], state[N_S];
    singular_rates(t, y, y + N_Q, job->p, job->c, w, found, job->externals);
    if (found[N_S] > SINGULAR && found[N_S] < NEAR) {
        const int live = job->externals->live;
        memcpy(state, y, sizeof state);
        const int failed = project(job, t, state, w, TIGHT);
        if (failed)
            return failed;
        job->externals->live = live;
        singular_rates(t, state, state + N_Q, job->p, job->c, w, found, job->externals);
    }
    if (!(found[N_S] > SINGULAR) && job->n_past > 0)
        extrapolate(job, t, found + N_Q);
    memcpy(k, found, N_S*sizeof *k);
    return job->externals->failed ? EXTERNAL_FAILED : FINISHED;
}

/* Keeps a book of visits near singular positions: when each was nearest, and the ratio of pivots there. */
static void visit(Job *job, real t)
{
    const real ratio = job->ratio;
    job->wary = ratio < WATCHED || job->steady < WATCHED;
    if (ratio < NEAR) {
        if (ratio < job->visit_ratio) {
            job->visit_time = t;
            job->visit_ratio = ratio;
        }
    } else if (job->visit_ratio < NEAR) {
        if (job->n_passages < job->most_passages) {
            job->passages[2*job->n_passages] = job->visit_time;
            job->passages[2*job->n_passages + 1] = job->visit_ratio;
        }
        job->n_passages++;
        job->visit_ratio = 1.0;
    }
}

/* Rates from which accelerations are extrapolated: those of the last three regular steps, or of the start. */
static void remember(Job *job, real t, const real *k)
{
    enum { W = 1 + N_U };
    if (job->n_past == 3)
        memmove(job->past, job->past + W, 2*W*sizeof *job->past);
    else
        job->n_past++;
    real *last = job->past + (job->n_past - 1)*W;
    last[0] = t;
    memcpy(last + 1, k + N_Q, N_U*sizeof *k);
}

/* The end of a step. */
static void accept(Job *job, real t, const real *k)
{
    if (job->ratio > SINGULAR)
        remember(job, t, k);
    visit(job, t);
}

/* The start of a run: is it near a singular position? */
static int begin(Job *job, real *w)
{
    real all[N_G*(1 + N_Q) + N_V*(1 + N_U) + 1];
    const real t = 0.0, *y = job->y;
@IF SET@
    if (set_inputs(job, t, w))
        return INPUT_FAILED;
@END@
    closure(t, y, y + N_Q, job->p, job->c, w, all, job->externals);
    job->ratio = pivot_ratio(all + N_G*(1 + N_Q) + N_V);
    job->steady = steady_ratio(all + N_G*(1 + N_Q) + N_V);
    visit(job, t);
    return job->externals->failed ? EXTERNAL_FAILED : FINISHED;
}

