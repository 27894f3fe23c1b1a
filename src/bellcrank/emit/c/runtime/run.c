/* ---- a run: everything from the first step to the last happens here */

@METHODS@@TUNING@enum {
    FINISHED, NOT_FINITE, EXTERNAL_FAILED, INPUT_FAILED, @STATUS@STEP_TOO_SMALL = 6, TOO_MANY_STEPS
};
enum { NOT_BEGUN, BEGUN, AGAIN };

@STRUCTURES@@INPUTS@
@IF LOOPS@
static int wary_rates(Job *job, real t, const real *y, real *k, real *w);

@END@
@IF CORRECTED@
static int staged_rates(Job *job, real t, const real *y, real *k, real *w);

@END@
@IF MULTIPLIERS@
static int dae_rates(Job *job, real t, const real *y, real *k, real *w);

@END@
@IF WHEELS@
static void with_ground(Job *job, double t, const double *y, double *w);

@END@
/* Rates of the state y at a time; live: external routines may change what they remember. */
static int rates(Job *job, int live, real t, const real *y, real *k, real *w)
{
@IF SET@
    if (set_inputs(job, t, w))
        return INPUT_FAILED;
@END@
    job->externals->live = live;
@IF WHEELS@
    with_ground(job, t, y, w);
    if (job->unknown)
        return INPUT_FAILED;
    job->externals->live = live;
@END@
@IF LOOPS@
    if (job->wary)
        return wary_rates(job, t, y, k, w);
@END@
@IF CORRECTED@
    if (job->staged)
        return staged_rates(job, t, y, k, w);
@END@
@IF MULTIPLIERS@
    return dae_rates(job, t, y, k, w);
@ELSE@
    derivatives(t, y, y + N_Q, job->p, job->c, w, k, k + N_Q, job->externals);
    return job->externals->failed ? EXTERNAL_FAILED : FINISHED;
@END@
}

static int record(Job *job, int live, real t, const real *y, const real *w)
{
    real *row = job->rows + job->filled*(1 + N_S + N_OUT + (job->with_inputs ? N_W : 0));
    job->filled++;
    row[0] = t;
    memcpy(row + 1, y, N_S*sizeof *y);
    job->externals->live = live;
    outputs(t, y, y + N_Q, job->p, job->c, w, row + 1 + N_S, job->externals);
    if (job->with_inputs)
        memcpy(row + 1 + N_S + N_OUT, w, N_W*sizeof *w);
@IF WHEELS@
    if (job->all_modes)
        memcpy(job->all_modes + (job->filled - 1)*job->modes_of_row, job->modes,
            (size_t)job->modes_of_row*sizeof *job->modes);
@END@
    return job->externals->failed ? EXTERNAL_FAILED : FINISHED;
}

static int all_finite(const real *y)
{
    for (int j = 0; j < N_S; j++)
        if (!isfinite(y[j]))
            return 0;
    return 1;
}

@UNIT@@HOLD@@LOOPS@@MULTIPLIERS@/* One step from y with rates k, of length h, to `next`: the rates there are left to the
   caller. */
static int advance(Job *job, real h, real t, real middle, real end, const real *y, const real *k, real *next,
    real *w)
{
@ADVANCE@}

@STEP@@WHEELS@/* A step, or a part of one, from t to end. Stages at the end see inputs as they are at `before`, what
   follows as at `after`: the two differ where an input jumps. External routines remember at the end of the last part
   only. The state stays the last good one if the step fails. */
static int part(Job *job, int last, real h, real t, real middle, real end, real before, real after, real *w)
{
    real next[N_S], k_new[N_S];
    int failed, follows = TWO_STEP(job->method);
@IF UPDATE@
    real kept[N_W - N_I];
    memcpy(kept, w + N_I, sizeof kept);
@END@
    failed = @MOVE@(job, h, t, middle, before, job->y, job->k, next, w@DEPTH@);
    if (failed == EXTERNAL_FAILED || failed == INPUT_FAILED)
        return failed;
    if (failed || !all_finite(next)) {
        memcpy(job->bad, next, sizeof next);
        return failed ? failed : NOT_FINITE;
    }
@IF LOOPS@
    job->from = job->y;
@END@
@IF UPDATE@
    if (last && (failed = keep_values(job, 0, after, next, w)))
        return failed;
    follows = follows && !memcmp(kept, w + N_I, sizeof kept); /* else a jump */
@END@
    if ((failed = rates(job, last, after, next, k_new, w)))
        return failed;
    if (follows)
        memcpy(job->old, job->k, sizeof k_new);
    memcpy(job->y, next, sizeof next);
    memcpy(job->k, k_new, sizeof k_new);
@IF LOOPS@
    accept(job, end, k_new);
    follows = follows && !job->near;
@END@
    job->behind = follows ? h : 0.0;
@IF WHEELS@
    job->from_time = after;
@END@
    (void)end;
    return FINISHED;
}

@PARTS@/* A step from t to end that is cut at the breaks from number b on. */
static int step_in_parts(Job *job, int64_t b, real t, real end, real near, real *w)
{
    while (t < end) {
        job->behind = 0.0;
        const Part next = next_part(job, &b, end, near);
        const real to = next.to;
        const int failed = part(job, to >= end, to - t, t, 0.5*(t + to), to, next.before, next.after, w);
        if (failed)
            return failed;
        t = to;
    }
    job->behind = 0.0;
    return FINISHED;
}

@ADAPTIVE@/* When inputs are read at the time reached: after all jumps there. */
static real after_jumps(const Job *job, real near)
{
    real t = job->t;
    for (int64_t b = 0; b < job->n_breaks; b++)
        if (fabs(job->breaks[b] - job->t) <= near && job->breaks[b] > t)
            t = job->breaks[b];
    return t;
}

/* Takes the state from which a run begins, or goes on after it was changed: what routines keep and remember is then as
   it was, and there is no row of it. */
static int take_start(Job *job, int again, real *w)
{
    const real t = again ? after_jumps(job, GAP*job->h) : job->t;
    int failed = FINISHED;
    job->behind = 0.0;
@IF HOLD@
    if (!again && (failed = keep_values(job, 1, t, job->y, w)))
        return failed;
@END@
@IF LOOPS@
    if ((failed = begin(job, t, w)))
        return failed;
@END@
@IF MULTIPLIERS@
    job->fresh = 1;
@END@
@IF WHEELS@
    job->from_time = t;
    land(job, t, job->y, w);
@END@
    if ((failed = rates(job, !again, t, job->y, job->k, w)) || (!again && (failed = record(job, 2, t, job->y, w))))
        return failed;
@IF LOOPS@
    remember(job, t, job->k);
@END@
    return failed;
}

/* Goes on with a run. Returns the status. */
EXPORT int run(Job *job)
{
    const real h = job->h, near = GAP*h;
    real w[N_W + 1];
    int64_t b = 0;
    job->externals->failed = 0;
    job->reached = job->first;
    job->status = FINISHED;
@IF HOLD@
    memcpy(w + N_I, job->kept, (N_W - N_I)*sizeof *w);
@END@
    if (job->begun != BEGUN) {
        const int again = job->begun == AGAIN;
        job->begun = BEGUN;
        if ((job->status = take_start(job, again, w)))
            return job->status;
@IF ADAPTIVE@
        if (job->method >= N_FIXED)
            ((Work *)job->work)->under_way = 0;
@END@
    }
@IF ADAPTIVE@
    if (job->method >= N_FIXED) {
        job->behind = 0.0;
        return job->status = adaptive(job, w);
    }
@END@
    for (int64_t i = job->first + 1; i <= job->last; i++) {
        const real t = job->t, whole = job->t_start + (real)i*h;
        const real last = i == job->total && job->t_end > job->t_start ? job->t_end : whole;
        const real end = fabs(last - whole) > near ? last : whole;
        job->reached = i;
        while (b < job->n_breaks && job->breaks[b] <= t + near)
            b++;
        if ((b < job->n_breaks && job->breaks[b] <= end + near) || end != whole
            || fabs(t - (job->t_start + (real)(i - 1)*h)) > near)
            job->status = step_in_parts(job, b, t, end, near, w);
        else
            job->status = part(job, 1, h, t, job->t_start + ((real)i - 0.5)*h, end, end, end, w);
        if (job->status)
            return job->status;
        job->t = end;
        if ((i % job->every == 0 || i == job->total) && (job->status = record(job, 2, last, job->y, w)))
            return job->status;
@IF WHEELS@
        if (job->n_told + 1000 > job->most_told)
            return job->status;
@END@
    }
    return job->status;
}
