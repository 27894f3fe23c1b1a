
/* ---- rates by one call: what they need besides time and state is bound in a job, of which nothing is changed, so that
   any number of threads may call */

/* Rates of a state. `afresh`: external routines find the values they keep there, as if a run began, and near a singular
   position of closed loops the redundant equations give the rates. Else kept values are those of the job, rates those
   of `derivatives`, and `near`, which may be NULL, tells of such a position. */
static int rates_bound(const Job *bound, int afresh, real t, const real *x, real *xdot, int32_t *near)
{
    Job job = *bound;
    Externals externals = *bound->externals;
    real w[N_W + 1] = {0};
    job.externals = &externals;
    externals.live = 0;
    externals.failed = 0;
@IF SET@
    if (set_inputs(&job, t, w))
        return INPUT_FAILED;
@END@
@IF HOLD@
    real kept[N_W - N_I];
    job.kept = kept;
    memcpy(w + N_I, bound->kept, sizeof kept);
    if (afresh) {
        const int failed = find_kept(&job, 1, t, x, w);
        if (failed)
            return failed;
    }
@END@
@IF LOOPS@
    if (afresh || near) {
        real all[N_SYSTEM];
        system_at(t, x, x + N_Q, job.p, job.c, w, all, &externals);
        const real ratio = pivot_ratio(all + AT_J), steady = steady_ratio(all + AT_J);
        const int singular = (ratio < steady ? ratio : steady) < NEAR;
        if (near)
            *near = singular;
        if (afresh && singular) {
            memcpy(xdot, all, N_Q*sizeof *xdot);
            reduced(all + AT_M, all + AT_F, all + AT_J, all + AT_GAMMA, SINGULAR, xdot + N_Q);
            return externals.failed ? EXTERNAL_FAILED : FINISHED;
        }
    }
@ELSE@
    if (near)
        *near = 0;
    (void)afresh;
@END@
    derivatives(t, x, x + N_Q, job.p, job.c, w, xdot, xdot + N_Q, &externals);
    return externals.failed ? EXTERNAL_FAILED : FINISHED;
}

/* Rates xdot of the state x (coordinates, speeds) at a time. Returns the status. */
EXPORT int rates_at(real t, const real *x, real *xdot, const void *bound)
{
    return rates_bound(bound, 1, t, x, xdot, NULL);
}

/* Rates of n states, one row each; afresh, near: as above, the latter with a place for each. */
EXPORT int rates_of_all(int64_t n, int32_t afresh, const real *t, const real *x, real *xdot, int32_t *near,
    const void *bound)
{
    for (int64_t i = 0; i < n; i++) {
        const int failed = rates_bound(bound, afresh, t[i], x + i*N_S, xdot + i*N_S, near ? near + i : NULL);
        if (failed)
            return failed;
    }
    return FINISHED;
}

/* Is it sure for n states that no motion is so fast that errors of a method could grow? Slopes of the rates, by central
   differences over a `push` of each state against its size or 1, times h, are squared so often: 1 if the sum of the
   squares of all entries is then below `most` for every state. */
EXPORT int is_calm(int64_t n, const real *t, const real *x, real h, real push, int32_t squarings, real most,
    const void *bound)
{
    real a[N_S*N_S + 1], b[N_S*N_S + 1], y[N_S + 1], up[N_S + 1], down[N_S + 1];
    for (int64_t i = 0; i < n; i++) {
        memcpy(y, x + i*N_S, N_S*sizeof *y);
        for (int k = 0; k < N_S; k++) {
            const real old = y[k], by = push*(fabs(old) > 1 ? fabs(old) : 1);
            y[k] = old + by;
            if (rates_bound(bound, 0, t[i], y, up, NULL))
                return 0;
            y[k] = old - by;
            if (rates_bound(bound, 0, t[i], y, down, NULL))
                return 0;
            const real scale = h/((old + by) - (old - by));
            y[k] = old;
            for (int j = 0; j < N_S; j++)
                a[j*N_S + k] = (up[j] - down[j])*scale;
        }
        for (int32_t s = 0; s < squarings; s++) {
            memset(b, 0, sizeof b);
            for (int j = 0; j < N_S; j++)
                for (int l = 0; l < N_S; l++)
                    for (int k = 0; k < N_S; k++)
                        b[j*N_S + k] += a[j*N_S + l]*a[l*N_S + k];
            memcpy(a, b, sizeof a);
        }
        real sum = 0;
        for (int j = 0; j < N_S*N_S; j++)
            sum += a[j]*a[j];
        if (!(sum < most))
            return 0;
    }
    return 1;
}
