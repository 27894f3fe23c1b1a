/* ---- steps of a fixed length */

@TUNING@enum {
    FINISHED = @UPPER@_FINE, NOT_FINITE = @UPPER@_NOT_FINITE, NOT_CLOSED = @UPPER@_NOT_CLOSED,
@IF EVENTS@
    STOPPED = @UPPER@_STOPPED, CHATTERS = @UPPER@_CHATTERS,
@END@
    EXTERNAL_FAILED, INPUT_FAILED
};

@JOB@
@IF LOOPS@
static int chosen_rates(Job *job, real t, const real *y, real *k, real *w);

@END@
static int rates(Job *job, int live, real t, const real *y, real *k, real *w)
{
    job->externals->live = live;
@IF LOOPS@
    if (job->wary)
        return chosen_rates(job, t, y, k, w);
@END@
    derivatives(t, y, y + N_Q, job->p, job->c, w, k, k + N_Q, job->externals);
    return FINISHED;
}

static int all_finite(int n, const real *x)
{
    for (int j = 0; j < n; j++)
        if (!isfinite(x[j]))
            return 0;
    return 1;
}

@HOLD@@LOOPS@
@IF CARRIED@
/* A state and its increment; what is rounded away is carried to the next step. */
static inline real summed(real y, real increment, real *carried)
{
    const real all = increment + *carried, sum = y + all;
    *carried = all - (sum - y);
    return sum;
}

@END@
@UNIT@/* One step from y with rates k, of length h, to `next`. */
static int advance(Job *job, real h, real t, real middle, real end, const real *y, const real *k, real *next,
    real *w@CARRIES@)
{
    (void)t;
    (void)middle;
    (void)end;
@ADVANCE@}

/* What the functions of the model are called with. */
static Job bound(@STEM@_model *m, Externals *externals, real *w)
{
    Job job = {0};
@IF LOOPS@
    job.turns = FIXED_CORRECTIONS;
    job.wary = (int)m->wary;
@END@
@IF PAST@
    job.old = m->old;
    job.behind = (int)m->behind;
@END@
    job.p = m->p;
    job.c = m->c;
    job.externals = externals;
    memcpy(w, m->w, N_I*sizeof *w);
@IF HOLD@
    job.kept = m->kept;
    memcpy(w + N_I, m->kept, (N_W - N_I)*sizeof *w);
@END@
    return job;
}

void @STEM@_defaults(@STEM@_model *m)
{
    static const real parameters[] = {@PARAMETERS@};
    static const real states[] = {@STATES@};
    static const real inputs[] = {@INPUTS@};
    memset(m, 0, sizeof *m);
    m->h = @UPPER@_STEP;
    memcpy(m->p, parameters, @N_GIVEN@*sizeof *parameters);
@IF OWN@
    static const real own[] = {@OWN@};
    memcpy(m->e, own, sizeof own);
@END@
    memcpy(m->y, states, N_S*sizeof *states);
    memcpy(m->w, inputs, N_I*sizeof *inputs);
}

@IF EVENTS@
static void begin_events(@STEM@_model *m);

@END@
int @STEM@_begin(@STEM@_model *m)
{
    Externals externals = {@MEMORY@, 0, 0};
    real w[N_W + 1];
    m->t_start = m->t;
    m->steps = 0;
@IF REMEMBERS@
    memset(m->memory, 0, sizeof m->memory);
@END@
@IF CARRIED@
    memset(m->carried, 0, sizeof m->carried);
@END@
@IF LOOPS@
    m->wary = 0;
@END@
@IF PAST@
    m->behind = 0;
@END@
    Job job = bound(m, &externals, w);
@IF ENTERED@
    real entered[N_P - @N_GIVEN@];
    externals.live = 1;
    entry(0, m->y, m->y + N_Q, m->p, m->c, w, entered, &externals);
    memcpy(m->p + @N_GIVEN@, entered, sizeof entered);
@END@
    constants(m->p, m->c);
    if (!all_finite(N_C, m->c) || !all_finite(N_S, m->y))
        return NOT_FINITE;
@IF LOOPS@
    job.turns = FIRST_CORRECTIONS;
    if (keep_closed(&job, HUGE_VAL, m->t, m->y, w))
        return NOT_CLOSED;
    m->wary = job.wary = job.steady < WATCHED;
@END@
@IF HOLD@
    keep_values(&job, 1, m->t, m->y, w);
@END@
@IF REMEMBERS@
    real k[N_S];
    rates(&job, 1, m->t, m->y, k, w);
@END@
    job.externals->live = 2;
    outputs(m->t, m->y, m->y + N_Q, m->p, m->c, w, m->out, &externals);
@IF EVENTS@
    m->now = (double)m->t;
    begin_events(m);
@END@
    return FINISHED;
}

@IF EVENTS@
/* When a step ends. */
static double time_of(const @STEM@_model *m, int64_t step)
{
    return (double)m->t_start + (double)step*(double)m->h;
}

/* Does a model stand at the beginning of its next step, not within? */
static int at_beginning(const @STEM@_model *m)
{
    return m->now - time_of(m, m->steps) <= (double)(GAP*m->h);
}

/* Step number i, or a part of it, to the state `next` at a time; k: rates at its beginning. */
static int attempt(Job *job, const @STEM@_model *m, int64_t i, double until, real *k, real *next, real *w@CARRIES@)
{
    const int whole = at_beginning(m) && !(until < time_of(m, i)) && !(until > time_of(m, i));
    const real h = whole ? m->h : (real)(until - m->now), end = (real)until;
    const real middle = whole ? m->t_start + ((real)i - (real)0.5)*m->h : (real)(0.5*(m->now + until));
@ELSE@
/* Step number i, to the state `next` at `end`; k: rates at its beginning. */
static int attempt(Job *job, const @STEM@_model *m, int64_t i, real end, real *k, real *next, real *w@CARRIES@)
{
    const real middle = m->t_start + ((real)i - (real)0.5)*m->h;
@END@
@IF CARRIED@
    memcpy(carried, m->carried, sizeof m->carried);
@END@
    if (rates(job, 0, m->t, m->y, k, w) || advance(job, @LENGTH@, m->t, middle, end, m->y, k, next, w@CARRY@)
        || !all_finite(N_S, next))
        return NOT_FINITE;
@IF LOOPS@
    if (keep_closed(job, @LENGTH@, end, next, w))
        return NOT_CLOSED;
@END@
    return FINISHED;
}

@STEP@(@STEM@_model *m)
{
    Externals externals = {@MEMORY@, 0, 0};
    real w[N_W + 1], next[N_S], first[N_S];
@IF REMEMBERS@
    real k[N_S];
@END@
@IF CARRIED@
    real carried[N_S];
@END@
    Job job = bound(m, &externals, w);
    const int64_t i = m->steps + 1;
    const real end = m->t_start + (real)i*m->h;
    int failed = attempt(&job, m, i, @UNTIL@, first, next, w@CARRY@);
@IF LOOPS@
    if (!job.wary && (failed || job.steady < NEAR)) { /* again, with other pivots */
        job.wary = 1;
@END@
@IF FORGETS@
        job.behind = 0;
@END@
@IF LOOPS@
        failed = attempt(&job, m, i, @UNTIL@, first, next, w@CARRY@);
    }
@END@
    if (failed)
        return failed;
@IF PAST@
    memcpy(m->old, first, sizeof first);
    m->behind = 1;
@END@
@IF JUMPS@
    real kept[N_W - N_I];
    memcpy(kept, w + N_I, sizeof kept);
@END@
@IF UPDATE@
    keep_values(&job, 0, end, next, w);
@END@
@IF JUMPS@
    m->behind = !memcmp(kept, w + N_I, sizeof kept); /* else a jump */
@END@
@IF PARTS@
    m->behind = m->behind && at_beginning(m); /* a part of a step is none before the next */
@END@
@IF REMEMBERS@
    rates(&job, 1, end, next, k, w);
@END@
    job.externals->live = 2;
    outputs(end, next, next + N_Q, m->p, m->c, w, m->out, &externals);
    memcpy(m->y, next, sizeof next);
@IF CARRIED@
    memcpy(m->carried, carried, sizeof carried);
@END@
@IF LOOPS@
    m->wary = job.steady < WATCHED;
@END@
    m->t = end;
@IF EVENTS@
    m->now = time_of(m, i);
@END@
    m->steps = i;
    return FINISHED;
}

@EVENTS@void @STEM@_tune(@STEM@_model *m)
{
    constants(m->p, m->c);
@IF PAST@
    m->behind = 0;
@END@
@IF EVENTS@
    m->tuned = 1;
@END@
}
