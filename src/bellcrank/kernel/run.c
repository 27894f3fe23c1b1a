/* ---- a run: everything from the first step to the last happens here */

/* A step as the model asks for it. */
static int move_on(GIVEN Job *job, real h, real t, real middle, real end, const real *y, const real *k, real *next,
    real *w)
{
#if HAS_WHEELS
    if (MODEL_HAS(WHEELS))
        return rigid_step(HERE job, h, t, middle, end, y, k, next, w);
#endif
#if HAS_DAE
    if (MODEL_HAS(DAE))
        return dae_step(HERE job, h, t, middle, end, y, k, next, w);
#endif
#if HAS_LOOPS
    if (MODEL_HAS(LOOPS))
        return projected_step(HERE job, h, t, middle, end, y, k, next, w, 0);
#endif
    return advance(HERE job, h, t, middle, end, y, k, next, w);
}

/* A step, or a part of one, from t to end. Stages at the end see inputs as they are at `before`, what
   follows as at `after`: the two differ where an input jumps. External routines remember at the end of the last part
   only. The state stays the last good one if the step fails. */
static int part(GIVEN Job *job, int last, real h, real t, real middle, real end, real before, real after, real *w)
{
    ARRAY(real, next, N_S);
    ARRAY(real, k_new, N_S);
    int failed, follows = TWO_STEP(job->method);
    ARRAY(real, kept, N_W - N_I + 1);
    memcpy(kept, w + N_I, (N_W - N_I)*sizeof *kept);
    failed = move_on(HERE job, h, t, middle, before, job->y, job->k, next, w);
    if (failed == EXTERNAL_FAILED || failed == INPUT_FAILED)
        return failed;
    if (failed || !all_finite(HERE next)) {
        memcpy(job->bad, next, N_S*sizeof *next);
        return failed ? failed : NOT_FINITE;
    }
    job->from = job->y;
    if (N_UPDATE) {
        if (last && (failed = keep_values(HERE job, 0, after, next, w)))
            return failed;
        follows = follows && !memcmp(kept, w + N_I, (N_W - N_I)*sizeof *kept); /* else a jump */
    }
    if ((failed = rates(HERE job, last, after, next, k_new, w)))
        return failed;
    if (follows)
        memcpy(job->old, job->k, N_S*sizeof *k_new);
    memcpy(job->y, next, N_S*sizeof *next);
    memcpy(job->k, k_new, N_S*sizeof *k_new);
    accept(HERE job, end, k_new);
    follows = follows && !job->near;
    job->behind = follows ? h : 0.0;
    job->from_time = after;
    (void)end;
    return FINISHED;
}

#include "parts.c"

/* A step from t to end that is cut at the breaks from number b on. */
static int step_in_parts(GIVEN Job *job, int64_t b, real t, real end, real near, real *w)
{
    while (t < end) {
        job->behind = 0.0;
        const Part next = next_part(job, &b, end, near);
        const real to = next.to;
        const int failed = part(HERE job, to >= end, to - t, t, 0.5*(t + to), to, next.before, next.after, w);
        if (failed)
            return failed;
        t = to;
    }
    job->behind = 0.0;
    return FINISHED;
}

#if HAS_ADAPTIVE
#include "adaptive.c"
#endif
/* When inputs are read at the time reached: after all jumps there. */
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
static int take_start(GIVEN Job *job, int again, real *w)
{
    const real t = again ? after_jumps(job, GAP*job->h) : job->t;
    int failed = FINISHED;
    job->behind = 0.0;
    if (!again && (failed = keep_values(HERE job, 1, t, job->y, w)))
        return failed;
    if ((failed = begin(HERE job, t, w)))
        return failed;
    job->fresh = 1;
    job->from_time = t;
    if (MODEL_HAS(WHEELS))
        land(HERE job, t, job->y, w);
    if ((failed = rates(HERE job, !again, t, job->y, job->k, w)))
        return failed;
    if (!again && (failed = record(HERE job, 2, t, job->y, w)))
        return failed;
    remember(HERE job, t, job->k);
    return failed;
}

/* Takes the steps of a run up to `last`. Returns the status. */
static int take_steps(GIVEN Job *job)
{
    const real h = job->h, near = GAP*h;
    ARRAY(real, w, N_W + 1);
    int64_t b = 0;
    job->externals->failed = 0;
    job->reached = job->first;
    job->status = FINISHED;
    memcpy(w + N_I, job->kept, (N_W - N_I)*sizeof *w);
    if (job->begun != BEGUN) {
        const int again = job->begun == AGAIN;
        job->begun = BEGUN;
        if ((job->status = take_start(HERE job, again, w)))
            return job->status;
#if HAS_ADAPTIVE
        if (job->method >= N_FIXED)
            ((Work *)job->work)->under_way = 0;
#endif
    }
#if HAS_ADAPTIVE
    if (job->method >= N_FIXED) {
        job->behind = 0.0;
        return job->status = adaptive(HERE job, w);
    }
#endif
    for (int64_t i = job->first + 1; i <= job->last; i++) {
        const real t = job->t, whole = job->t_start + (real)i*h;
        const real last = i == job->total && job->t_end > job->t_start ? job->t_end : whole;
        const real end = fabs(last - whole) > near ? last : whole;
        job->reached = i;
        while (b < job->n_breaks && job->breaks[b] <= t + near)
            b++;
        if ((b < job->n_breaks && job->breaks[b] <= end + near) || end != whole
            || fabs(t - (job->t_start + (real)(i - 1)*h)) > near)
            job->status = step_in_parts(HERE job, b, t, end, near, w);
        else
            job->status = part(HERE job, 1, h, t, job->t_start + ((real)i - 0.5)*h, end, end, end, w);
        if (job->status)
            return job->status;
        job->t = end;
        if ((i % job->every == 0 || i == job->total) && (job->status = record(HERE job, 2, last, job->y, w)))
            return job->status;
        if (MODEL_HAS(WHEELS) && job->most_told && job->n_told + 1000 > job->most_told)
            return job->status;
    }
    return job->status;
}
