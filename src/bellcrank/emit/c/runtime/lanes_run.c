/* ---- runs side by side, from the first step to the last */

@METHODS@enum { FINISHED, NOT_FINITE };

/* A group of runs: vectors that wait for nothing of each other, runs, and states of one vector after another. */
enum { N_VECTORS = @VECTORS@, N_RUNS = N_VECTORS*N_LANES, N_Y = N_VECTORS*N_S };

@IF EVENTS@
enum { N_EVENTS = @N_EVENTS@, N_VALUES = @N_VALUES@ };

@AT_ZERO@
typedef struct Book { /* of an event: how often it acted since a time, and when at last */
    int64_t acted;
    double since, last;
} Book;

@END@
typedef struct Job { /* runs that go side by side */
    const Batch *batch;
    int64_t run, used; /* the first of them, and how many */
    int64_t reached, number, n_breaks;
    int32_t method;
    const double *breaks;
    double t;
    masks alive[N_VECTORS]; /* runs that go on; the others stay where they are */
    lanes y[N_Y + 1], k[N_Y + 1], w[N_VECTORS*N_W + 1]; /* as they are at the row that is recorded last, or next */
@IF PAST@
    lanes old[N_Y + 1]; /* rates at the beginning of the step before ... */
    masks past[N_VECTORS]; /* ... in lanes in which it was a whole one and nothing was changed since */
@END@
@IF SHORT@
    lanes carried[N_Y + 1]; /* what is left over where increments are added to y */
@END@
@IF OWN@
    lanes p[N_VECTORS*N_P + 1], c[N_VECTORS*N_C + 1];
@END@
@IF EVENTS@
    double values[N_LANES*(N_VALUES + 1)]; /* of parameters in events, in units of the user, lane by lane */
    double g[N_LANES*N_EVENTS];            /* conditions at the step reached */
    AtZero at_zero[N_LANES*N_EVENTS];
    Book book[N_LANES*N_EVENTS];
@END@
@IF STILL@
    lanes still[N_VECTORS*N_W + 1]; /* inputs that do not depend on time */
    int n_moving, moving[N_I + 1]; /* which do */
@END@
    Tally *tallies; /* of all figures, lane by lane */
} Job;

@IF OWN@
#define PARAMETERS(job) (job)->p
#define CONSTANTS(job) (job)->c
@ELSE@
#define PARAMETERS(job) shared_p
#define CONSTANTS(job) shared_c
@END@

/* Number i of those that vectors one after another have n of each, of a run of the group. */
#define OF_RUN(x, n, i, run) LANE((x)[(run)/N_LANES*(n) + (i)], (run)%N_LANES)

/* Does it hold anywhere in a group? */
static inline int some(const masks *which)
{
    masks found = which[0];
    for (int v = 1; v < N_VECTORS; v++)
        found |= which[v];
    return any(found);
}

@IF ALL@
/* ... everywhere in it? */
static inline int all(const masks *which)
{
    masks found = which[0];
    for (int v = 1; v < N_VECTORS; v++)
        found &= which[v];
    return !any(~found);
}

@END@
@IF SET@
static inline scalar value_of(const Input *in, double t)
{
    return (scalar)(in->scale*(in->kind == CONSTANT && !in->rate ? in->a[0] : input_value(in, t)));
}

/* An input at a time, in all lanes; one that all runs share is found once. */
static void set_input(const Job *job, int i, double t, lanes *w)
{
    const Batch *b = job->batch;
    const int64_t apart = b->inputs_apart;
    lanes value = SAME(apart ? 0 : value_of(b->inputs + i, t));
    for (int v = 0; v < N_VECTORS; v++) {
        for (int j = 0; apart && j < N_LANES; j++) {
            const int64_t run = v*N_LANES + j;
            LANE(value, j) = value_of(b->inputs + (job->run + (run < job->used ? run : 0))*apart + i, t);
        }
        w[v*N_W + i] = value;
    }
}

@END@
@IF STILL@
static void set_inputs(const Job *job, double t, lanes *w)
{
    memcpy(w, job->still, N_VECTORS*N_W*sizeof *w);
    for (int i = 0; i < job->n_moving; i++)
        set_input(job, job->moving[i], t, w);
}

/* Those that are constant in all lanes are set once for all. */
static void begin_inputs(Job *job)
{
    const Batch *b = job->batch;
    job->n_moving = 0;
    for (int i = 0; i < N_I; i++) {
        int moves = 0;
        for (int64_t j = 0; j < job->used; j++)
            moves |= b->inputs[(job->run + j)*b->inputs_apart + i].kind != CONSTANT;
        if (moves)
            job->moving[job->n_moving++] = i;
        else
            set_input(job, i, job->t, job->still);
    }
}

@END@
@IF ANEW@
static void set_inputs(const Job *job, double t, lanes *w)
{
    for (int i = 0; i < N_I; i++)
        set_input(job, i, t, w);
}

@END@
/* Rates of the state y at a time. */
static int rates(Job *job, int live, double t, const lanes *y, lanes *k, lanes *w)
{
@IF SET@
    set_inputs(job, t, w);
@END@
    (void)job;
    (void)live;
    UNROLLED
    for (int v = 0; v < N_VECTORS; v++)
        derivatives(SAME(t), y + v*N_S, y + v*N_S + N_Q, PARAMETERS(job) + v*N_P, CONSTANTS(job) + v*N_C, w + v*N_W,
            k + v*N_S, k + v*N_S + N_Q, NULL);
    return FINISHED;
}

RARE static void record(Job *job, double t)
{
    const Batch *b = job->batch;
    for (int v = 0; v < N_VECTORS; v++) {
        lanes row[1 + N_S + N_OUT + N_W];
        const lanes *y = job->y + v*N_S, *w = job->w + v*N_W;
        row[0] = SAME(t);
        memcpy(row + 1, y, N_S*sizeof *row);
        outputs(SAME(t), y, y + N_Q, PARAMETERS(job) + v*N_P, CONSTANTS(job) + v*N_C, w, row + 1 + N_S, NULL);
        memcpy(row + 1 + N_S + N_OUT, w, N_W*sizeof *row);
        for (int64_t j = v*N_LANES; j < job->used && j < (v + 1)*N_LANES; j++)
            if (OF_RUN(job->alive, 1, 0, j))
                take_row(b, job->run + j, job->number, t, (const scalar *)row + j%N_LANES, N_LANES,
                    job->tallies + j*b->n_figures);
    }
    job->number++;
}

@IF SHORT@
/* A state and its increment; what is rounded away is carried to the next time. */
static inline lanes summed(lanes y, lanes increment, lanes *carried)
{
    const lanes all = increment + *carried, sum = y + all;
    *carried = all - (sum - y);
    return sum;
}

@END@
#define ONE_BY_ROOT(x) (SAME(1)/lanes_sqrt(x))
@UNIT@
/* One step from y with rates k, of length h, to `next`: the rates there are left to the caller. `old`: rates at
   the beginning of the step before, in lanes that know it (`past`; NULL: none does). */
static int advance(Job *job, scalar h, double t, double middle, double end, const lanes *restrict y,
    const lanes *restrict k, const masks *past, const lanes *restrict old, lanes *restrict next, lanes *w,
    lanes *carried)
{
    (void)carried;
    (void)past;
    (void)old;
@ADVANCE@}

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

@IF PAST@
/* Is the step before known now, in all lanes? */
static inline void set_past(Job *job, int known)
{
    for (int v = 0; v < N_VECTORS; v++)
        job->past[v] = known ? MASK(SAME(0) < SAME(1)) : MASK(SAME(1) < SAME(0));
}

@END@
@CORRECTION@@PARTS@@EVENTS@/* Sets the runs of a group to their beginning; nonzero if constants of all of them are not
   finite. */
static int begin_runs(Job *job)
{
    const Batch *b = job->batch;
    for (int j = 0; j < N_RUNS; j++) {
        const int64_t run = job->run + (j < job->used ? j : 0);
        const double *y = b->y + run*b->y_apart;
        int good = 1;
@IF OWN@
        const double *p = b->p + run*b->p_apart;
        double c[N_C + 1];
        constants(p, c);
        for (int i = 0; i < N_C; i++)
            OF_RUN(job->c, N_C, i, j) = (scalar)c[i];
        for (int i = 0; i < N_P; i++)
            OF_RUN(job->p, N_P, i, j) = (scalar)p[i];
@END@
        for (int i = 0; i < N_C; i++)
            good = good && isfinite(OF_RUN(CONSTANTS(job), N_C, i, j));
        for (int i = 0; i < N_S; i++) {
            OF_RUN(job->y, N_S, i, j) = (scalar)y[i];
@IF PAST@
            OF_RUN(job->old, N_S, i, j) = 0;
@END@
@IF SHORT@
            OF_RUN(job->carried, N_S, i, j) = (scalar)(y[i] - OF_RUN(job->y, N_S, i, j));
@END@
        }
        OF_RUN(job->alive, 1, 0, j) = 0;
        if (j >= job->used)
            continue;
        begin_tallies(b, job->tallies + j*b->n_figures);
@IF EVENTS@
        memcpy(job->values + j*(N_VALUES + 1), b->values + run*b->values_apart, N_VALUES*sizeof(double));
        for (int i = 0; i < N_EVENTS; i++)
            job->book[j*N_EVENTS + i].acted = 0;
        memset(job->at_zero + j*N_EVENTS, 0, N_EVENTS*sizeof *job->at_zero);
@END@
        OF_RUN(job->alive, 1, 0, j) = good ? -1 : 0;
        if (!good)
            b->status[run] = NO_CONSTANTS;
    }
    job->method = b->method;
@IF PAST@
    set_past(job, 0);
@END@
    job->breaks = b->breaks;
    job->n_breaks = b->first_breaks[1] - b->first_breaks[0];
    job->t = b->t_start;
    job->reached = job->number = 0;
@IF STILL@
    begin_inputs(job);
@END@
    return !some(job->alive);
}

/* The first row of a group. */
static void begin_rows(Job *job)
{
@IF CORRECTION@
    begin_loops(job);
@END@
    rates(job, 1, job->t, job->y, job->k, job->w);
    record(job, job->t);
@IF EVENTS@
    begin_events(job);
@END@
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
@IF SWAPPED@
    lanes states[2][N_Y + 1], *y = states[0], *next = states[1]; /* they change places */
@ELSE@
    lanes y[N_Y + 1], next[N_Y + 1];
@END@
    lanes k[N_Y + 1], w[N_VECTORS*N_W + 1], carried[N_Y + 1];
@IF PAST@
    lanes old[N_Y + 1];
@END@
    masks alive[N_VECTORS];
    int64_t i = job->reached + 1, at = 0, row = (job->reached/every + 1)*every; /* the next step, break and row */
    int within = 0; /* a step of which some parts are left? */
@IF EVENTS@
    Stride s;
@END@
    memcpy(alive, job->alive, sizeof alive);
    memcpy(y, job->y, N_Y*sizeof *y);
    memcpy(k, job->k, N_Y*sizeof *k);
@IF PAST@
    if (TWO_STEP(job->method))
        memcpy(old, job->old, N_Y*sizeof *old);
@END@
@IF SHORT@
    memcpy(carried, job->carried, N_Y*sizeof *carried);
@END@
    while (i <= to && some(alive) && !STOPPED(b)) {
        const double whole = t_start + (double)i*h, last = i == total && b->t_end > t_start ? b->t_end : whole;
        const double end = fabs(last - whole) > near ? last : whole;
        double t = job->t, length = h, middle = 0.0;
        while (at < job->n_breaks && job->breaks[at] <= t + near)
            at++;
        const int cut = within || (at < job->n_breaks && job->breaks[at] <= end + near) || end != whole;
@IF EVENTS@
        const int begins = !within;
@END@
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
@IF EVENTS@
            if (begins) {
                s.number = i;
                s.begin = t;
                memcpy(s.y, y, N_S*sizeof *y);
                memcpy(s.k, k, N_S*sizeof *k);
            }
@END@
@IF SHORT_EVENTS@
            if (begins)
                memcpy(s.carried, carried, N_S*sizeof *carried);
@END@
@IF PAST@
            advance(job, (scalar)length, t, middle, p.before, y, k, cut ? NULL : job->past, old, next, w, carried);
            if (TWO_STEP(job->method)) {
                memcpy(old, k, N_Y*sizeof *k);
                set_past(job, !cut);
            }
@ELSE@
            advance(job, (scalar)length, t, middle, p.before, y, k, NULL, NULL, next, w, carried);
@END@
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
@IF CORRECTION@
            const masks closed = corrected(job, alive[0], length, p.before, next, w);
            if (any(alive[0] & ~closed)) {
                leave_some(job, closed);
                alive[0] = job->alive[0];
                if (!any(alive[0]))
                    return;
            }
@END@
@IF SWAPPED@
            if (!all(alive)) /* the others stay */
                for (int j = 0; j < N_Y; j++)
                    next[j] = choose(alive[j/N_S], next[j], y[j]);
            lanes *const before = y;
            y = next;
            next = before;
@ELSE@
            for (int j = 0; j < N_Y; j++)
                y[j] = choose(alive[j/N_S], next[j], y[j]);
@END@
            rates(job, 1, p.after, y, k, w);
@IF EVENTS@
            if (!within) {
                s.end = i == total ? last : p.to;
                job->reached = i;
                watch_step(job, &s, i == row || i == total ? job->number : -1, y, carried, k, w);
                alive[0] = job->alive[0];
                if (!any(alive[0]))
                    return;
            }
@END@
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
@IF PAST@
    if (TWO_STEP(job->method))
        memcpy(job->old, old, N_Y*sizeof *old);
@END@
@IF SHORT@
    memcpy(job->carried, carried, N_Y*sizeof *carried);
@END@
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
