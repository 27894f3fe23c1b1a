@CORRECTION@/* ---- closed loops where the pivots of the start do not hold: they are chosen at every position */

@PLACES@
static const real ROOT_Q[] = {@ROOT_Q@}; /* roots of inverse inertias: the metric of corrections */
static const real ROOT_U[] = {@ROOT_U@};

static int chosen_rates(Job *job, real t, const real *y, real *k, real *w)
{
    real all[N_SYSTEM];
    system_at(t, y, y + N_Q, job->p, job->c, w, all, job->externals);
    memcpy(k, all, N_Q*sizeof *k);
    reduced(all + AT_M, all + AT_F, all + AT_J, all + AT_GAMMA, 0, k + N_Q);
    return FINISHED;
}

/* The smallest change that closes loops, in so many turns. 0: the state is on the constraints; 1: they are open, or a
   singular position is near, and the state is as before. */
static int close_loops(Job *job, real h, real t, real *y, real *w)
{
    real all[N_G*(1 + N_Q) + N_V*(1 + N_U) + 1], change[N_S + 1], state[N_S], *q = state, *u = state + N_Q;
    const real *g = all, *G = g + N_G, *v = G + N_G*N_Q, *J = v + N_V;
    real left = 0.0, ratio;
    job->externals->live = 0;
    job->moved = 0.0;
    memcpy(state, y, sizeof state);
    closure(t, q, u, job->p, job->c, w, all, job->externals);
    for (int n = 0; n < job->turns; n++) {
        least_norm(N_G, N_Q, N_RG, ROOT_Q, G, g, change);
        job->moved += length(N_Q, change);
        for (int j = 0; j < N_Q; j++)
            q[j] -= change[j];
        closure(t, q, u, job->p, job->c, w, all, job->externals);
    }
    for (int i = 0; i < N_G; i++)
        left = fabs(g[i]) <= left ? left : fabs(g[i]);
    look_at_pivots(J, &ratio, &job->steady);
    least_norm(N_V, N_U, N_RV, ROOT_U, J, v, change);
    for (int j = 0; j < N_U; j++)
        u[j] -= change[j];
    if (!(left < OPEN) || !(ratio > NEAR) || job->moved > SHARE*h*length(N_U, u) + LEAST)
        return 1;
    memcpy(y, state, sizeof state);
    return 0;
}

/* Closes loops after a step of length h: what depends on the rest is moved; where that has no steady pivots, all. */
static int keep_closed(Job *job, real h, real t, real *y, real *w)
{
@IF CORRECTION@
    if (!job->wary && !correct_dependent(job, h, t, y, w))
        return 0;
@END@
    return close_loops(job, h, t, y, w);
}
