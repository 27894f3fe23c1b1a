/* ---- a group of runs, from the first step to the last */

/* Lanes whose states are all finite. */
static inline masks all_finite(const lanes *y)
{
    lanes lost = SAME(0), others = SAME(0);
    UNROLLED
    for (int j = 0; j + 1 < N_S; j += 2) { /* 0, or not a number; two sums do not wait for each other */
        lost += y[j]*SAME(0);
        others += y[j + 1]*SAME(0);
    }
    lost += N_S%2 ? others + y[N_S - 1]*SAME(0) : others;
    return MASK(lost == lost);
}

/* Runs whose next state, in job->k, is not finite end. */
RARE static void end_some(Job *job, const masks *good)
{
    const Batch *b = job->batch;
    for (int64_t j = 0; j < job->used; j++)
        if (OF_RUN(job->alive, 1, 0, j) && !OF_RUN(good, 1, 0, j)) {
            const int64_t run = job->run + j;
            b->reached[run] = job->reached;
            for (int i = 0; i < N_S; i++)
                b->bad[run*N_S + i] = OF_RUN(job->k, N_S, i, j);
            end_tallies(b, run, job->tallies + j*b->n_figures);
            b->status[run] = NOT_FINITE;
        }
    for (int v = 0; v < N_VECTORS; v++)
        job->alive[v] &= good[v];
}

#if TWO_STEPS
/* Is the step before known now, in all lanes? */
static inline void set_past(Job *job, int known)
{
    for (int v = 0; v < N_VECTORS; v++)
        job->past[v] = known ? MASK(SAME(0) < SAME(1)) : MASK(SAME(1) < SAME(0));
}

#endif
#if HAS_CORRECTION
#include "lanes_closing.c"
#endif
#include "parts.c"
#if HAS_EVENTS
#include "lanes_events.c"
#endif
/* Sets the runs of a group to their beginning; nonzero if constants of all of them are not
   finite. */
static int begin_runs(Job *job)
{
    const Batch *b = job->batch;
    for (int j = 0; j < N_RUNS; j++) {
        const int64_t run = job->run + (j < job->used ? j : 0);
        const double *y = b->y + run*b->y_apart;
        int good = 1;
#if OWN_VALUES
        const double *p = b->p + run*b->p_apart;
        double c[N_C + 1];
        constants(p, c);
        for (int i = 0; i < N_C; i++)
            OF_RUN(job->c, N_C, i, j) = (scalar)c[i];
        for (int i = 0; i < N_P; i++)
            OF_RUN(job->p, N_P, i, j) = (scalar)p[i];
#endif
        for (int i = 0; i < N_C; i++)
            good = good && isfinite(OF_RUN(CONSTANTS(job), N_C, i, j));
        for (int i = 0; i < N_S; i++) {
            OF_RUN(job->y, N_S, i, j) = (scalar)y[i];
#if TWO_STEPS
            OF_RUN(job->old, N_S, i, j) = 0;
#endif
#if SINGLE
            OF_RUN(job->carried, N_S, i, j) = (scalar)(y[i] - OF_RUN(job->y, N_S, i, j));
#endif
        }
        OF_RUN(job->alive, 1, 0, j) = 0;
        if (j >= job->used)
            continue;
        begin_tallies(b, job->tallies + j*b->n_figures);
#if HAS_EVENTS
        memcpy(job->values + j*(N_VALUES + 1), b->values + run*b->values_apart, N_VALUES*sizeof(double));
        for (int i = 0; i < N_EVENTS; i++)
            job->book[j*N_EVENTS + i].acted = 0;
        memset(job->at_zero + j*N_EVENTS, 0, N_EVENTS*sizeof *job->at_zero);
#endif
        OF_RUN(job->alive, 1, 0, j) = good ? -1 : 0;
        if (!good)
            b->status[run] = NO_CONSTANTS;
    }
    job->method = b->method;
#if TWO_STEPS
    set_past(job, 0);
#endif
    job->breaks = b->breaks;
    job->n_breaks = b->first_breaks[1] - b->first_breaks[0];
    job->t = b->t_start;
    job->reached = job->number = 0;
#if HAS_INPUTS
#if !ON_GPU
    begin_inputs(job);
#endif
#endif
    return !some(job->alive);
}

/* The first row of a group. */
static void begin_rows(Job *job)
{
#if HAS_CORRECTION
    begin_loops(job);
#endif
    rates(job, 1, job->t, job->y, job->k, job->w);
    record(job, job->t);
#if HAS_EVENTS
    begin_events(job);
#endif
}

/* The last of the steps from number i to `until` that have their full length: i itself has. */
static int64_t last_whole(const Job *job, int64_t i, int64_t until, int64_t at, double near)
{
    const Batch *b = job->batch;
    if (until == b->total && i < until)
        until--; /* the very last one may be longer or shorter */
    if (at >= job->n_breaks)
        return until;
    const double next = job->breaks[at];
    int64_t most = (int64_t)fmin((next - near - b->t_start)/b->h, (double)until);
    while (most > i && next <= b->t_start + (double)most*b->h + near)
        most--;
    return most > i ? most : i;
}

/* Goes on with a group to the end of a step, or until somebody stops it. What steps change is at hand, in y, k and w,
   and goes to the job for what happens less often. */
static void go_on(Job *job, int64_t to)
{
    const Batch *b = job->batch;
    const double h = b->h, near = GAP*h, t_start = b->t_start;
    const int64_t total = b->total, every = b->every;
#if !ON_GPU
    lanes states[2][N_Y + 1], *y = states[0], *next = states[1]; /* they change places */
#else
    lanes y[N_Y + 1], next[N_Y + 1];
#endif
    lanes k[N_Y + 1], w[N_VECTORS*N_W + 1], carried[N_Y + 1];
#if TWO_STEPS
    lanes old[N_Y + 1];
#endif
    masks alive[N_VECTORS];
    int64_t i = job->reached + 1, at = 0, row = (job->reached/every + 1)*every; /* the next step, break and row */
    int within = 0; /* a step of which some parts are left? */
#if HAS_EVENTS
    Stride s;
#endif
    memcpy(alive, job->alive, sizeof alive);
    memcpy(y, job->y, N_Y*sizeof *y);
    memcpy(k, job->k, N_Y*sizeof *k);
#if TWO_STEPS
    if (TWO_STEP(job->method))
        memcpy(old, job->old, N_Y*sizeof *old);
#endif
#if SINGLE
    memcpy(carried, job->carried, N_Y*sizeof *carried);
#endif
    while (i <= to && some(alive) && !STOPPED(b)) {
        const double whole = t_start + (double)i*h, last = i == total && b->t_end > t_start ? b->t_end : whole;
        const double end = fabs(last - whole) > near ? last : whole;
        double t = job->t, length = h, middle = 0.0;
        while (at < job->n_breaks && job->breaks[at] <= t + near)
            at++;
        const int cut = within || (at < job->n_breaks && job->breaks[at] <= end + near) || end != whole;
#if HAS_EVENTS
        const int begins = !within;
#endif
        int64_t until = i;
        Part p = {end, end, end};
        if (cut) {
            p = next_part(job, &at, end, near);
            length = p.to - t;
            middle = 0.5*(t + p.to);
            within = p.to < end;
        } else {
            until = last_whole(job, i, row < to ? row : to, at, near);
        }
        for (; i <= until && !STOPPED(b); i++) { /* whole steps, or a part of one */
            masks good[N_VECTORS], failed[N_VECTORS];
            if (!cut) {
                t = t_start + (double)(i - 1)*h;
                middle = t_start + ((double)i - 0.5)*h;
                p.to = p.before = p.after = t_start + (double)i*h;
            }
#if HAS_EVENTS
            if (begins) {
                s.number = i;
                s.begin = t;
                memcpy(s.y, y, N_S*sizeof *y);
                memcpy(s.k, k, N_S*sizeof *k);
            }
#if SINGLE
            if (begins)
                memcpy(s.carried, carried, N_S*sizeof *carried);
#endif
#endif
#if TWO_STEPS
            advance(job, (scalar)length, t, middle, p.before, y, k, cut ? NULL : job->past, old, next, w, carried);
            if (TWO_STEP(job->method)) {
                memcpy(old, k, N_Y*sizeof *k);
                set_past(job, !cut);
            }
#else
            advance(job, (scalar)length, t, middle, p.before, y, k, NULL, NULL, next, w, carried);
#endif
            UNROLLED
            for (int v = 0; v < N_VECTORS; v++) {
                good[v] = all_finite(next + v*N_S);
                failed[v] = alive[v] & ~good[v];
            }
            if (some(failed)) {
                job->reached = i;
                memcpy(job->k, next, N_Y*sizeof *next);
                end_some(job, good);
                memcpy(alive, job->alive, sizeof alive);
                if (!some(alive))
                    return;
            }
#if HAS_CORRECTION
            const masks closed = corrected(job, alive[0], length, p.before, next, w);
            if (any(alive[0] & ~closed)) {
                leave_some(job, closed);
                alive[0] = job->alive[0];
                if (!any(alive[0]))
                    return;
            }
#endif
#if !ON_GPU
            if (!all(alive)) /* the others stay */
                for (int j = 0; j < N_Y; j++)
                    next[j] = choose(alive[j/N_S], next[j], y[j]);
            lanes *const before = y;
            y = next;
            next = before;
#else
            for (int j = 0; j < N_Y; j++)
                y[j] = choose(alive[j/N_S], next[j], y[j]);
#endif
            rates(job, 1, p.after, y, k, w);
#if HAS_EVENTS
            if (!within) {
                s.end = i == total ? last : p.to;
                job->reached = i;
                watch_step(job, &s, i == row || i == total ? job->number : -1, y, carried, k, w);
                alive[0] = job->alive[0];
                if (!any(alive[0]))
                    return;
            }
#endif
        }
        i -= within;
        job->reached = i - 1;
        job->t = p.to;
        if (!within && (job->reached == row || job->reached == total)) {
            row += every;
            memcpy(job->y, y, N_Y*sizeof *y);
            memcpy(job->w, w, N_VECTORS*N_W*sizeof *w);
            record(job, job->reached == total ? last : p.to);
        }
    }
    memcpy(job->y, y, N_Y*sizeof *y);
    memcpy(job->k, k, N_Y*sizeof *k);
#if TWO_STEPS
    if (TWO_STEP(job->method))
        memcpy(job->old, old, N_Y*sizeof *old);
#endif
#if SINGLE
    memcpy(job->carried, carried, N_Y*sizeof *carried);
#endif
}

/* Tells of the runs of a group that are over. */
static void end_runs(Job *job)
{
    const Batch *b = job->batch;
    for (int64_t j = 0; j < job->used && !STOPPED(b); j++)
        if (OF_RUN(job->alive, 1, 0, j)) {
            end_tallies(b, job->run + j, job->tallies + j*b->n_figures);
            b->reached[job->run + j] = job->reached;
            b->status[job->run + j] = FINISHED;
        }
}
