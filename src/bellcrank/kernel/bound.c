
/* ---- rates by one call: what they need besides time and state is bound in a job, of which nothing is changed, so that
   any number of threads may call */

/* Rates of a state. `afresh`: external routines find the values they keep there, as if a run began, and near a singular
   position of closed loops the redundant equations give the rates. Else kept values are those of the job, rates those
   of `derivatives`, and `near`, which may be NULL, tells of such a position. */
static int rates_bound(GIVEN const Job *bound, int afresh, real t, const real *x, real *xdot, int32_t *near)
{
    Externals externals = *bound->externals;
    ARRAY(real, w, N_W + 1);
    memset(w, 0, (N_W + 1)*sizeof *w);
    externals.live = 0;
    externals.failed = 0;
    if (set_inputs(HERE bound, t, w))
        return INPUT_FAILED;
    if (N_START + N_UPDATE > 0) {
        ARRAY(real, kept, N_W - N_I + 1);
        memcpy(w + N_I, bound->kept, (N_W - N_I)*sizeof *w);
        const int failed = afresh ? find_kept(HERE bound, 1, t, x, w, &externals, kept) : FINISHED;
        if (failed)
            return failed;
    }
    if (near)
        *near = 0;
#if HAS_LOOPS
    if (MODEL_HAS(LOOPS) && (afresh || near)) {
        ARRAY(real, all, N_SYSTEM);
        system_at(t, x, x + N_Q, bound->p, bound->c, w, all, &externals);
        real ratio, steady;
        look_at_pivots(HERE all + AT_J, &ratio, &steady);
        const int singular = (ratio < steady ? ratio : steady) < NEAR;
        if (near)
            *near = singular;
        if (afresh && singular) {
            memcpy(xdot, all, N_Q*sizeof *xdot);
            reduced(HERE all + AT_M, all + AT_F, all + AT_J, all + AT_GAMMA, 0, xdot + N_Q);
            return externals.failed ? EXTERNAL_FAILED : FINISHED;
        }
    }
#endif
    derivatives(t, x, x + N_Q, bound->p, bound->c, w, xdot, xdot + N_Q, &externals);
    return externals.failed ? EXTERNAL_FAILED : FINISHED;
}

/* Rates xdot of the state x (coordinates, speeds) at a time. Returns the status. */
EXPORT int rates_at(GIVEN real t, const real *x, real *xdot, const void *bound)
{
    return rates_bound(HERE bound, 1, t, x, xdot, NULL);
}

/* Rates of n states, one row each; afresh, near: as above, the latter with a place for each. */
EXPORT int rates_of_all(GIVEN int64_t n, int32_t afresh, const real *t, const real *x, real *xdot, int32_t *near,
    const void *bound)
{
    for (int64_t i = 0; i < n; i++) {
        const int failed = rates_bound(HERE bound, afresh, t[i], x + i*N_S, xdot + i*N_S, near ? near + i : NULL);
        if (failed)
            return failed;
    }
    return FINISHED;
}

/* How it is told whether motions are slow: slopes of the rates, by central differences over a `push` of each state
   against its size or 1, times h, are squared so often, until the sum of the squares of all entries is below a bound,
   `most` after the last. */
typedef struct Calm {
    real h, push, most;
    int32_t squarings;
} Calm;

/* Is it sure for a state that no motion is so fast that errors of a method could grow? */
static int calm_at(GIVEN const Job *bound, const Calm *how, real t, const real *x)
{
    ARRAY(real, a, N_S*N_S + 1);
    ARRAY(real, b, N_S*N_S + 1);
    ARRAY(real, y, N_S + 1);
    ARRAY(real, up, N_S + 1);
    ARRAY(real, down, N_S + 1);
    real below = how->most;
    memcpy(y, x, N_S*sizeof *y);
    for (int k = 0; k < N_S; k++) {
        const real old = y[k], by = how->push*(fabs(old) > 1 ? fabs(old) : 1);
        y[k] = old + by;
        if (rates_bound(HERE bound, 0, t, y, up, NULL))
            return 0;
        y[k] = old - by;
        if (rates_bound(HERE bound, 0, t, y, down, NULL))
            return 0;
        const real scale = how->h/((old + by) - (old - by));
        y[k] = old;
        for (int j = 0; j < N_S; j++)
            a[j*N_S + k] = (up[j] - down[j])*scale;
    }
    for (int32_t s = 0; s < how->squarings; s++)
        below = sqrt(below);
    for (int32_t s = 0;; s++) {
        real sum = 0;
        for (int j = 0; j < N_S*N_S; j++)
            sum += a[j]*a[j];
        if (sum < below) /* and so it is for the squares */
            return 1;
        if (s >= how->squarings)
            return 0;
        memset(b, 0, (N_S*N_S + 1)*sizeof *b);
        for (int j = 0; j < N_S; j++)
            for (int l = 0; l < N_S; l++)
                for (int k = 0; k < N_S; k++)
                    b[j*N_S + k] += a[j*N_S + l]*a[l*N_S + k];
        memcpy(a, b, (N_S*N_S + 1)*sizeof *a);
        below *= below;
    }
}

/* Is it sure for n states? */
EXPORT int is_calm(GIVEN int64_t n, const real *t, const real *x, real h, real push, int32_t squarings, real most,
    const void *bound)
{
    const Calm how = {h, push, most, squarings};
    for (int64_t i = 0; i < n; i++)
        if (!calm_at(HERE bound, &how, t[i], x + i*N_S))
            return 0;
    return 1;
}

/* Is it sure for a run of n rows, all of them finite: at its start, after each third, and on both sides of the
   largest changes of speeds between rows? */
EXPORT int is_calm_run(GIVEN int64_t n, int64_t width, const real *rows, real h, real push, int32_t squarings,
    real most, const void *bound)
{
    enum { HARDEST = 3, LOOKS = 3 + 2*HARDEST };
    const Calm how = {h, push, most, squarings};
    int64_t at[LOOKS] = {0, (n - 1)/3, 2*(n - 1)/3};
    real jolts[HARDEST] = {-1, -1, -1};
    for (int64_t i = 0; i + 1 < n; i++) {
        const real *u = rows + i*width + 1 + N_Q;
        real jolt = 0;
        for (int j = 0; j < N_U; j++)
            jolt = fmax(jolt, fabs(u[width + j] - u[j]));
        int place = HARDEST;
        for (; place > 0 && jolt > jolts[place - 1]; place--)
            if (place < HARDEST) {
                jolts[place] = jolts[place - 1];
                at[3 + place] = at[3 + place - 1];
            }
        if (place < HARDEST) {
            jolts[place] = jolt;
            at[3 + place] = i;
        }
    }
    for (int k = 0; k < HARDEST; k++)
        at[3 + HARDEST + k] = at[3 + k] + (jolts[k] >= 0);
    for (int k = 0; k < LOOKS; k++) {
        int seen = 0;
        for (int l = 0; l < k; l++)
            seen = seen || at[l] == at[k];
        if (!seen && !calm_at(HERE bound, &how, rows[at[k]*width], rows + at[k]*width + 1))
            return 0;
    }
    return 1;
}
