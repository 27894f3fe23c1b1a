/* ---- a run that is watched for events: its steps are taken one by one; one in which something happens that acts or
   stops the run ends there, and the run begins again from the state after it */

#include "tables/events.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O1") /* what happens seldom is not to take long to compile */
#endif

#include "tables/formulas.c"

#define WIDTH (1 + N_S + N_OUT + N_W)
#define N_EVENTS (watch->n_events)
#define N_SETTINGS (watch->n_settings)
#define MOST_FIRED (MOST_AT_ONCE*watch->n_events)
#define EVENT(i) (&watch->watched[i])
#define SETTING(i) (&watch->settings[i])
#define ZERO(i) (&watch->at_zero[i])
#define CONDITION(i, row) formula(watch, EVENT(i)->first, EVENT(i)->last, row, scratch)
#define NEW_VALUE(i, row) formula(watch, SETTING(i)->first, SETTING(i)->last, row, scratch)
#define OLD_VALUE(i, row) \
    (SETTING(i)->state >= 0 ? row[1 + SETTING(i)->state]/SETTING(i)->factor : watch->values[SETTING(i)->value])
#define EVENT_RUN_ENDS (watch->until)
#define RARE
typedef Events Watch;
#ifdef __GNUC__
#define MAY_BE_UNUSED __attribute__((unused))
#else
#define MAY_BE_UNUSED
#endif
#define LOOKING GIVEN MAY_BE_UNUSED Job *job, MAY_BE_UNUSED Events *watch, MAY_BE_UNUSED double *scratch,
#define LOOK HERE job, watch, scratch,
#define LOCAL(type, name, n) \
    type *const name = (type *)(void *)scratch; \
    scratch += ((size_t)(n)*sizeof(type) + sizeof(double) - 1)/sizeof(double)

/* The memory of a run with events: the row, conditions, state and rates before its last step, and what was kept and
   remembered then; behind it what functions use. */
typedef struct Before {
    double *row, *g, *y, *k, *kept, *memory, *modes, *seen, *scratch; /* seen: modes in the last look */
} Before;

static Before before_step(GIVEN const Events *watch)
{
    Before b;
    b.row = watch->room;
    b.g = b.row + WIDTH;
    b.y = b.g + N_EVENTS;
    b.k = b.y + N_S;
    b.kept = b.k + N_S;
    b.memory = b.kept + (N_W - N_I);
    b.modes = b.memory + watch->n_held;
    b.seen = b.modes + watch->n_modes;
    b.scratch = b.seen + watch->n_modes;
    return b;
}

#if HAS_BRIDGES
#define BRIDGE_NUMBERS (MODEL_HAS(BRIDGES) ? N_BLOCKS*(2 + 7*WIDEST) : 0)
#else
#define BRIDGE_NUMBERS 0
#endif
#if HAS_DAE
#define FROZEN_NUMBERS (MODEL_HAS(DAE) ? 2*N_V : 0)
#else
#define FROZEN_NUMBERS 0
#endif
#if HAS_WHEELS
#define WHEEL_NUMBERS (MODEL_HAS(WHEELS) ? 3*N_MODES*N_WHEELS : 0)
#else
#define WHEEL_NUMBERS 0
#endif
#define PAST_NUMBERS (MODEL_HAS(LOOPS) ? 3*(1 + N_U) : 0)

/* How much memory n events need, in numbers: with so many steps of the longest formula and numbers remembered. */
#define EVENT_ROOM(n, longest, held) (12*WIDTH + 12*N_S + 6*N_W + 3*(held) + WHEEL_NUMBERS \
    + PAST_NUMBERS + BRIDGE_NUMBERS + 2*FROZEN_NUMBERS    + 600*(n) + 2*(longest) + 100)

EXPORT int64_t event_room(GIVEN const Events *sizes)
{
    return EVENT_ROOM(sizes->n_events, sizes->longest, sizes->n_held);
}

static double formula(const Events *watch, int first, int last, const double *row, double *x)
{
    for (int i = first; i < last; i++)
        x[i - first] = formula_step(&watch->steps[i], row, watch->values, x);
    return x[last - first - 1];
}

static Happening *next_happening(Events *watch, int event, int acted, double t)
{
    if (!watch->happenings || watch->n_happenings >= watch->most_happenings)
        return NULL;
    Happening *to = &watch->happenings[watch->n_happenings++];
    to->event = event;
    to->acted = acted;
    to->time = t;
    return to;
}

static void note_event(Events *watch, int event, double t)
{
    next_happening(watch, event, ONLY_HAPPENED, t);
}

static void note_idle(Events *watch, int event, double t)
{
    if (!isnan(watch->counted[event].idle))
        return;
    watch->counted[event].idle = t;
    next_happening(watch, event, CHANGED_NOTHING, t);
}

static void event_chatters(Events *watch, int event, double t, int how, double within)
{
    watch->problem = how;
    watch->culprit = event;
    watch->when = t;
    watch->amount = within;
}

/* What routines elsewhere remember. */
static void hold(const Events *watch, int what)
{
    if (watch->hold)
        watch->hold(what);
}

/* Without what a run through singular positions has behind it; these are other arrays, if they are given. */
static void forget_loops(GIVEN Job *job, real *past, real *bridges)
{
    if (!MODEL_HAS(LOOPS))
        return;
    job->past = past;
    job->bridges = bridges;
    memset(past, 0, (size_t)PAST_NUMBERS*sizeof *past);
    job->n_past = job->wary = job->near = job->portions = 0;
    memset(job->visit, 0, sizeof job->visit);
    job->visit[1] = 1.0;
}

#if HAS_ADAPTIVE
/* A single step, for a caller who looks within. */
static int step_once(GIVEN Job *job)
{
    ARRAY(real, w, N_W + 1);
    job->externals->failed = 0;
    memcpy(w + N_I, job->kept, (N_W - N_I)*sizeof *w);
    use_work(HERE job);
    return job->status = adaptive_step(HERE job, 1, w);
}

/* A row within the last step, which leaves all as it is. */
static int row_once(GIVEN Job *job, int live, real t)
{
    ARRAY(real, w, N_W + 1);
    job->externals->failed = 0;
    job->filled = 0;
    memcpy(w + N_I, job->kept, (N_W - N_I)*sizeof *w);
    use_work(HERE job);
    return row_within(HERE job, live, t, w);
}
#endif

/* The row at a time within the last step: on the interpolation of a method that chooses its steps, else by a shorter
   step. */
static void event_row_at(LOOKING double t, double *row)
{
    const Before from = before_step(HERE watch);
    if (watch->row_at) {
        if (watch->row_at(job, t, row))
            watch->failed = 1;
        return;
    }
#if HAS_ADAPTIVE
    if (job->method >= N_FIXED) {
        real *const rows = job->rows;
        const int64_t filled = job->filled;
        job->rows = row;
        job->filled = 0;
        if (row_once(HERE job, 0, t))
            watch->failed = 1;
        job->rows = rows;
        job->filled = filled;
        return;
    }
#endif
    Job look = *job;
    Externals externals = *job->externals;
    LOCAL(real, y, N_S);
    LOCAL(real, k, N_S);
    LOCAL(real, bad, N_S);
    LOCAL(real, kept, N_W - N_I + 1);
    LOCAL(double, memory, watch->n_held + 1);
    LOCAL(real, past, PAST_NUMBERS + 1);
    LOCAL(real, bridges, BRIDGE_NUMBERS + 1);
    if (MODEL_HAS(LOOPS))
        memcpy(bridges, job->bridges, (size_t)BRIDGE_NUMBERS*sizeof *bridges);
    forget_loops(HERE &look, past, bridges);
    LOCAL(real, frozen, FROZEN_NUMBERS + 1);
    look.frozen = frozen;
    look.most_passages = 0;
    memcpy(y, from.y, N_S*sizeof *y);
    memcpy(kept, from.kept, (N_W - N_I)*sizeof *kept);
    memcpy(memory, from.memory, (size_t)watch->n_held*sizeof *memory);
    externals.memory = memory;
    look.externals = &externals;
    look.y = y;
    look.k = k;
    look.bad = bad;
    look.kept = kept;
    look.rows = row;
    look.with_inputs = 1;
    look.first = watch->step - 1;
    look.t = watch->begin;
    if (watch->n_modes)
        memcpy(from.seen, from.modes, (size_t)watch->n_modes*sizeof *from.seen);
    look.modes = from.seen;
    look.n_told = look.most_told;
    if (look_within(HERE &look, t, REMEMBERS || N_W > N_I ? from.k : NULL))
        watch->failed = 1;
}

/* The row of a state, which leaves what routines remember as it is. */
static void row_after(LOOKING double t, const double *y, double *row)
{
    Job look = *job;
    LOCAL(real, w, N_W + 1);
    memcpy(w + N_I, job->kept, (N_W - N_I)*sizeof *w);
    look.rows = row;
    look.filled = 0;
    look.with_inputs = 1;
    if (set_inputs(HERE job, t, w))
        watch->failed = 1;
    with_ground(HERE &look, t, y, w);
    if (record(HERE &look, 0, t, y, w))
        watch->failed = 1;
}

/* How fast a condition changes at a state: the difference of rows a little way along its rates. */
static double event_rate(LOOKING int event, double t, const double *y)
{
    const double h = EVENT_GLANCE*watch->h;
    Job look = *job;
    LOCAL(real, w, N_W + 1);
    LOCAL(real, k, N_S + 1);
    LOCAL(real, moved, N_S + 1);
    LOCAL(double, row, WIDTH);
    double g[2];
    memcpy(w + N_I, job->kept, (N_W - N_I)*sizeof *w);
    LOCAL(real, frozen, FROZEN_NUMBERS + 1);
    look.frozen = frozen;
    look.fresh = 1;
    look.wary = look.staged = 0;
    if (rates(HERE &look, 0, t, y, k, w))
        watch->failed = 1;
    for (int way = 0; way < 2; way++) {
        for (int j = 0; j < N_S; j++)
            moved[j] = way ? y[j] - h*k[j] : y[j] + h*k[j];
        row_after(LOOK way ? t - h : t + h, moved, row);
        g[way] = CONDITION(event, row);
    }
    return (g[0] - g[1])/(2*h);
}

static int refuse_action(Events *watch, int why, int event, int item, double t, double amount)
{
    watch->refused = 1;
    watch->problem = why;
    watch->culprit = event;
    watch->item = item;
    watch->when = t;
    watch->amount = amount;
    return 0;
}

/* The state on the constraints again, with what an event has set as it is. Zero if that cannot be: by how much is
   which row open then? */
static int is_closed_again(LOOKING const int *set, double t, double *y, int *row, double *left)
{
#if HAS_ASSEMBLY
    LOCAL(double, closed, N_S);
    LOCAL(int, may, N_S);
    double residual = 0.0;
    int reverse = 0;
    if (!MODEL_HAS(LOOPS) && !MODEL_HAS(DAE))
        return 1;
    job->t = t;
    for (int attempt = 0; attempt < 2; attempt++) {
        for (int j = 0; j < N_S; j++)
            may[j] = !set[j] && (attempt > 0 || watch->follows[j]);
        memcpy(closed, y, N_S*sizeof *closed);
        const int open = close_loops(HERE job, closed, may, 0, &residual, &reverse);
        if (open < 0) {
            memcpy(y, closed, N_S*sizeof *closed);
            return 1;
        }
        if (attempt == 0) {
            *row = open;
            *left = residual;
        }
    }
    return 0;
#else
    (void)set;
    (void)t;
    (void)y;
    (void)row;
    (void)left;
    return 1;
#endif
}

/* The state on the constraints before events act, or as it is where that cannot be. Is there anything to close? */
static int close_before(LOOKING double t, double *y)
{
    LOCAL(int, set, N_S);
    int row = -1;
    double left = 0.0;
    if (!MODEL_HAS(LOOPS) && !MODEL_HAS(DAE))
        return 0;
    memset(set, 0, N_S*sizeof *set);
    job->t = t;
    return watch->close ? !watch->close(job, -1, y) : is_closed_again(LOOK set, t, y, &row, &left);
}

/* Does what an event does: sets states and parameters at once, and closes loops again. Zero if that cannot be. */
static int event_act(LOOKING int event, double t, const double *row, double *y)
{
    LOCAL(double, found, N_SETTINGS);
    LOCAL(int, set, N_S);
    LOCAL(double, old, N_S);
    LOCAL(double, earlier, watch->n_values);
    int others = 0, open = -1;
    double left = 0.0;
    memset(set, 0, N_S*sizeof *set);
    memcpy(old, y, N_S*sizeof *old);
    memcpy(earlier, watch->values, (size_t)watch->n_values*sizeof *earlier);
    for (int i = 0; i < N_SETTINGS; i++) {
        if (SETTING(i)->event != event)
            continue;
        found[i] = NEW_VALUE(i, row);
        if (!isfinite(found[i]))
            return refuse_action(watch, SETS_NO_NUMBER, event, i, t, found[i]);
    }
    for (int i = 0; i < N_SETTINGS; i++) {
        const Setting *s = SETTING(i);
        if (s->event != event)
            continue;
        if (s->state >= 0) {
            y[s->state] = found[i]*s->factor;
            set[s->state] = 1;
            continue;
        }
        others |= earlier[s->value] < found[i] || earlier[s->value] > found[i];
        watch->values[s->value] = found[i];
    }
    job->t = t;
    if (others && watch->use_values && watch->use_values(job))
        return refuse_action(watch, NO_VALUES, event, -1, t, 0.0);
    watch->reset |= others;
    if (watch->close && watch->close(job, event, y))
        return refuse_action(watch, NO_VALUES, event, -1, t, 0.0);
    if (!watch->close && !is_closed_again(LOOK set, t, y, &open, &left))
        return refuse_action(watch, NOT_ON_CONSTRAINTS, event, open, t, left);
#if HAS_WHEELS
    if (MODEL_HAS(WHEELS)) {
        LOCAL(real, w, N_W + 1);
        memset(w, 0, (N_W + 1)*sizeof *w);
        stand_again(HERE job, t, y, w);
    }
#endif
    const Happening *last = next_happening(watch, event, ACTED, t);
    if (last && watch->changes) {
        const size_t n = N_S, v = (size_t)watch->n_values;
        double *to = watch->changes + (size_t)(last - watch->happenings)*2*(n + v);
        memcpy(to, old, n*sizeof *to);
        memcpy(to + n, y, n*sizeof *to);
        memcpy(to + 2*n, earlier, v*sizeof *to);
        memcpy(to + 2*n + v, watch->values, v*sizeof *to);
    }
    return 1;
}

/* Notes an action: too many in too short a time end the run. Zero if that is over. */
static int note_action(Events *watch, int event, double t, int pushed)
{
    double *times = watch->times + event*(EVENT_MOST + 1);
    const int64_t n = watch->counted[event].actions++;
    const double h = watch->h, span = fmin(h, EVENT_SPAN*watch->span);
    const double last = n > 0 ? times[(n - 1) % (EVENT_MOST + 1)] : 0.0;
    const double first = n >= EVENT_MOST ? times[(n - EVENT_MOST) % (EVENT_MOST + 1)] : 0.0;
    times[n % (EVENT_MOST + 1)] = t;
    if (!pushed && n > 0 && t - last < EVENT_SOON*h)
        event_chatters(watch, event, t, AGAIN_AT_ONCE, 0.0);
    if (n >= EVENT_MOST && t - first < span)
        event_chatters(watch, event, t, t > first ? TOO_OFTEN : AGAIN_AND_AGAIN, t - first);
    return !watch->problem;
}

#include "event_rule.c"

/* Follows conditions from the beginning on, to say at last why an event never counted. */
static void follow_conditions(LOOKING const double *g, const double *row)
{
    for (int i = 0; i < N_EVENTS; i++) {
        const Watched *w = EVENT(i);
        Counted *c = &watch->counted[i];
        if (isnan(g[i])) {
            if (isnan(c->undefined)) {
                c->undefined = row[0];
                c->always = !watch->started;
            }
        } else
            c->always = 0;
        if (!watch->started) {
            c->zero = !w->strict && event_is_zero(LOOK i, row, 0.0);
            c->noise = 4*event_noise(LOOK i, row);
            c->side = c->zero || w->up == w->down ? 0 : w->up ? 1 : -1;
            c->waits = c->zero || c->side;
        }
        if (!c->waits)
            continue;
        if (c->zero) {
            if (fabs(g[i]) > c->noise) {
                c->side = g[i] > 0.0 ? 1 : -1;
                c->waits = 0;
            }
        } else if (!event_is_over(w, g[i], c->side))
            c->side = c->waits = 0;
    }
}

static void conditions_at(LOOKING const double *row, double *g)
{
    for (int event = 0; event < N_EVENTS; event++)
        g[event] = CONDITION(event, row);
}

/* Rows that a caller gets. */
typedef struct Rows {
    real *rows;
    int64_t filled, most, *total;
    int width, only_last;
} Rows;

static void keep_row(Rows *to, const double *row)
{
    if (to->filled && to->only_last)
        to->filled = 0;
    ++*to->total;
    memcpy(to->rows + to->filled++*to->width, row, (size_t)to->width*sizeof *row);
}

/* Is there room for what an event adds, and so many rows before it? */
static int has_room(const Job *job, const Rows *to, const Events *watch, int64_t before)
{
    return (to->only_last || to->filled + before + 4 <= to->most)
        && !(job->told && job->n_told + 1000 > job->most_told)
        && (!watch->happenings || watch->n_happenings + 2*MOST_AT_ONCE*watch->n_events <= watch->most_happenings);
}

static void note_held(const Job *job, const Events *watch, const Before *b, int64_t kept)
{
    memcpy(b->kept, job->kept, (size_t)kept*sizeof *b->kept);
    if (watch->n_held)
        memcpy(b->memory, job->externals->memory, (size_t)watch->n_held*sizeof *b->memory);
}

static void put_held(const Job *job, const Events *watch, const double *kept, const double *memory, int64_t n)
{
    memcpy(job->kept, kept, (size_t)n*sizeof *kept);
    if (watch->n_held)
        memcpy(job->externals->memory, memory, (size_t)watch->n_held*sizeof *memory);
}

/* Begins again from the state there is, with nothing behind it. */
static int begin_after(GIVEN Job *job, Events *watch)
{
#if HAS_ASSEMBLY
#if HAS_LOOPS
    if (MODEL_HAS(LOOPS) && watch->reset)
        find_metric(HERE job, job->y, (double *)job->root_q, (double *)job->root_u);
#endif
#endif
    if (MODEL_HAS(LOOPS)) {
        forget_loops(HERE job, job->past, job->bridges);
        memset(job->bridges, 0, (size_t)BRIDGE_NUMBERS*sizeof *job->bridges);
        job->curves = 0;
    }
    watch->reset = 0;
    job->begun = AGAIN;
    job->first = job->last = job->reached;
    return take_steps(HERE job);
}

/* What is zero at a row has counted. */
static void all_have_counted(LOOKING const double *row, int but_strict)
{
    for (int i = 0; i < N_EVENTS; i++)
        if (!(but_strict && EVENT(i)->strict) && event_is_zero(LOOK i, row, 0.0))
            wait_at_zero(ZERO(i), EVENT(i)->up ? 1 : -1, 0, 0.0);
}

/* Lets events act at a row of the state of a job; `row` becomes the one after them. */
static int act_here(LOOKING Crossing *fired, int count, int stops, double t, double *row, Rows *to)
{
    if (count > 0) {
        watch->refused = 0;
        stops = events_act(LOOK fired, count, stops, t, row, job->y);
        if (!watch->refused)
            keep_row(to, row);
    } else
        all_have_counted(LOOK row, 0);
    job->t = t;
    watch->stopped = watch->problem ? -1 : stops;
    if (!watch->problem)
        watch->when = t;
    return watch->problem || stops >= 0;
}

/* Ends the last step at a time, where events act or stop the run. Is that over? */
static int end_step_at(LOOKING double ends, Crossing *fired, int count, int stops, Rows *to)
{
    const Before b = before_step(HERE watch);
    event_row_at(LOOK ends, b.row);
    if (watch->failed)
        return 1;
    keep_row(to, b.row);
    memcpy(job->y, b.row + 1, N_S*sizeof *job->y);
    put_held(job, watch, b.kept, b.memory, N_W - N_I);
    if (watch->n_modes)
        memcpy(job->modes, b.seen, (size_t)watch->n_modes*sizeof *b.seen);
    while (MODEL_HAS(WHEELS) && job->n_told > 0 && job->told[3*(job->n_told - 1)] > ends)
        job->n_told--; /* beyond the end of the step */
    return act_here(LOOK fired, count, stops, ends, b.row, to);
}

/* Takes over which events have counted that are zero where a run continues another: as it is known from there, unless
   something has changed since; else those that zero belongs to. */
static void take_over(LOOKING const double *row, const double *g)
{
    if (watch->continued == CONTINUES)
        all_have_counted(LOOK row, 1);
    for (int i = 0; i < N_EVENTS && watch->continued == STATES_ARE_KNOWN; i++) {
        AtZero *zero = ZERO(i);
        zero->waits = zero->waits && event_is_zero(LOOK i, row, zero->size);
        zero->known = zero->known && event_is_unsure(LOOK i, row, g[i]);
    }
}

/* Takes the row from which a run begins, or begins again after something was set from outside: that may bring events
   about, too. */
static int begin_watch(LOOKING Rows *to)
{
    const Before b = before_step(HERE watch);
    const int again = job->begun != NOT_BEGUN, changed = job->begun == AGAIN, jumps = changed && watch->started;
    LOCAL(double, values, N_EVENTS);
    if (job->begun != BEGUN) {
        job->rows = b.row;
        job->filled = 0;
        job->first = job->last = job->reached;
        if (take_steps(HERE job))
            return 1;
    }
    if (!again)
        keep_row(to, b.row);
    else
        row_after(LOOK job->t, job->y, b.row);
    if (jumps)
        memcpy(values, b.g, (size_t)N_EVENTS*sizeof *values);
    conditions_at(LOOK b.row, b.g);
    if (!watch->started) {
        follow_conditions(LOOK b.g, b.row);
        take_over(LOOK b.row, b.g);
    }
    watch->started = 1;
    if (!jumps)
        return 0;
    LOCAL(Crossing, fired, MOST_FIRED);
    LOCAL(int, busy, N_EVENTS);
    int count = 0;
    memset(busy, 0, (size_t)N_EVENTS*sizeof *busy);
    for (int i = 0; i < N_EVENTS; i++)
        ZERO(i)->known = 0;
    const int stops = jump_to(LOOK values, job->t, b.row, fired, &count, busy, -1);
    if (!count && stops < 0)
        return 0;
    if (act_here(LOOK fired, count, stops, job->t, b.row, to))
        return 1;
    conditions_at(LOOK b.row, b.g);
    return begin_after(HERE job, watch);
}

static int fixed_steps_watched(LOOKING int64_t last, int64_t every, Rows *to)
{
    const Before b = before_step(HERE watch);
    LOCAL(double, after, WIDTH);
    LOCAL(Crossing, fired, MOST_FIRED);
    while (!job->status && job->reached < last && has_room(job, to, watch, 0)) {
        double ends;
        int stops;
        memcpy(b.y, job->y, N_S*sizeof *b.y);
        memcpy(b.k, job->k, N_S*sizeof *b.k);
        note_held(job, watch, &b, N_W - N_I);
        if (watch->n_modes)
            memcpy(b.modes, job->modes, (size_t)watch->n_modes*sizeof *b.modes);
        hold(watch, HOLD_MARK);
        watch->begin = job->t;
        job->first = job->reached;
        job->last = watch->step = job->first + 1;
        job->every = 1;
        job->rows = after;
        job->filled = 0;
        const int failed = take_steps(HERE job);
        if (failed)
            return failed;
        hold(watch, HOLD_BACK);
        const int count = look_between(LOOK b.g, b.row, after, fired, &ends, &stops);
        if (watch->problem || watch->failed)
            return FINISHED;
        if (!(ends < HUGE_VAL)) {
            hold(watch, HOLD_FORTH);
            memcpy(b.row, after, (size_t)WIDTH*sizeof *after);
            conditions_at(LOOK b.row, b.g);
            follow_conditions(LOOK b.g, b.row);
            if (job->reached % every == 0 || job->reached == job->total)
                keep_row(to, b.row);
            continue;
        }
        int over;
        if (ends < after[0]) {
            over = end_step_at(LOOK ends, fired, count, stops, to);
            hold(watch, HOLD_UNDO);
            job->reached = (int64_t)floor((ends - job->t_start)/job->h + GAP);
        } else { /* the step is over, with what routines keep and remember at its end */
            hold(watch, HOLD_FORTH);
            memcpy(b.row, after, (size_t)WIDTH*sizeof *after);
            keep_row(to, b.row);
            over = act_here(LOOK fired, count, stops, ends, b.row, to);
        }
        conditions_at(LOOK b.row, b.g);
        if (over)
            return FINISHED;
        if (begin_after(HERE job, watch))
            return job->status;
    }
    return job->status;
}

#if HAS_ADAPTIVE
/* Keeps the row of the next output time. Returns the status. */
static int keep_output(LOOKING Rows *to)
{
    LOCAL(double, row, WIDTH);
    job->rows = row;
    job->filled = 0;
    job->status = row_once(HERE job, 2, job->times[++job->reached]);
    if (!job->status)
        keep_row(to, row);
    return job->status;
}

/* Looks at the last step in so many places, and at the output times within; as `look_between`. */
static int look_along_step(LOOKING Crossing *fired, double *ends, int *stops)
{
    const Before b = before_step(HERE watch);
    LOCAL(double, after, WIDTH);
    const double begin = b.row[0], share = (job->t - begin)/EVENT_LOOKS;
    int64_t i = job->reached + 1;
    *ends = HUGE_VAL;
    for (int k = 1; k <= EVENT_LOOKS;) {
        const double place = k < EVENT_LOOKS ? begin + k*share : job->t;
        const double output = i <= job->total ? job->times[i] : HUGE_VAL;
        event_row_at(LOOK fmin(place, output), after);
        k += place <= output;
        i += output <= place;
        if (watch->failed)
            return 0;
        const int count = look_between(LOOK b.g, b.row, after, fired, ends, stops);
        if (watch->problem || *ends < HUGE_VAL)
            return count;
        memcpy(b.row, after, (size_t)WIDTH*sizeof *after);
        conditions_at(LOOK b.row, b.g);
        follow_conditions(LOOK b.g, b.row);
    }
    return 0;
}

/* Looks at a step that was taken elsewhere, from the row of the last look up to the time of the job; the first look
   takes the row there. Returns 1 if an event has ended it: time and state of the job are those after it, and the rows
   before and after it stand in job->rows. */
EXPORT int look_at_step(GIVEN Job *job)
{
    Events *watch = job->events;
    const Before b = before_step(HERE watch);
    double *scratch = b.scratch, ends = HUGE_VAL;
    Rows to = {job->rows, 0, 4, &watch->n_rows, WIDTH, 0};
    LOCAL(Crossing, fired, MOST_FIRED);
    int stops = -1, count = 0;
    watch->failed = 0;
    job->filled = 0;
    note_held(job, watch, &b, N_W - N_I);
    if (!watch->started) {
        job->begun = BEGUN;
        begin_watch(LOOK &to);
    } else
        count = look_along_step(LOOK fired, &ends, &stops);
    if (!watch->failed && !watch->problem && ends < HUGE_VAL) {
        end_step_at(LOOK ends, fired, count, stops, &to);
        conditions_at(LOOK b.row, b.g);
    }
    if (watch->failed && !watch->problem)
        watch->problem = NO_ROW;
    job->rows = to.rows;
    job->filled = to.filled;
    return ends < HUGE_VAL || watch->problem;
}

#if LINKED
#define WORK_ROOM work_room(model)
#else
#define WORK_ROOM work_room()
#endif

/* Continues with a method that chooses its steps, as if it began. */
static int choose_method(GIVEN Job *job, Events *watch, int method)
{
    memset(job->work, 0, (size_t)WORK_ROOM*sizeof *job->work);
    job->method = method;
    return begin_after(HERE job, watch);
}

static int chosen_steps_watched(LOOKING int64_t last, Rows *to)
{
    const Before b = before_step(HERE watch);
    const int64_t most = job->steps + job->rejected + job->pause;
    LOCAL(Crossing, fired, MOST_FIRED);
    LOCAL(real, kept, N_W + 1);
    LOCAL(double, memory, watch->n_held + 1);
    while (!job->status && job->reached < last && has_room(job, to, watch, job->total - job->reached)) {
        double ends;
        int stops;
        if (!(job->t < job->times[job->reached + 1])) {
            keep_output(LOOK to);
            continue;
        }
        if (job->look == 2 && job->held && job->method < RADAU5) {
            if (!(watch->went_over > 0.0))
                watch->went_over = job->t;
            if (!MODEL_HAS(STIFF))
                return FINISHED; /* in another program */
            if (choose_method(HERE job, watch, RADAU5))
                break;
            continue;
        }
        if (job->steps + job->rejected >= most)
            return FINISHED;
        note_held(job, watch, &b, N_W - N_I);
        hold(watch, HOLD_MARK);
        if (step_once(HERE job))
            break;
        memcpy(kept, job->kept, (N_W - N_I)*sizeof *kept);
        if (watch->n_held)
            memcpy(memory, job->externals->memory, (size_t)watch->n_held*sizeof *memory);
        put_held(job, watch, b.kept, b.memory, N_W - N_I);
        hold(watch, HOLD_BACK);
        const int count = look_along_step(LOOK fired, &ends, &stops);
        if (watch->problem || watch->failed)
            break;
        if (!(ends < HUGE_VAL)) {
            put_held(job, watch, kept, memory, N_W - N_I);
            hold(watch, HOLD_FORTH);
            continue;
        }
        while (job->times[job->reached + 1] < ends)
            if (keep_output(LOOK to))
                return job->status;
        note_held(job, watch, &b, N_W - N_I);
        const int over = end_step_at(LOOK ends, fired, count, stops, to);
        hold(watch, HOLD_UNDO);
        while (job->reached < job->total && job->times[job->reached + 1] <= ends + GAP*watch->h)
            job->reached++;
        conditions_at(LOOK b.row, b.g);
        if (over)
            break;
        job->held = 0;
        if (choose_method(HERE job, watch, watch->method))
            break;
    }
    return job->status;
}
#endif

/* Continues a run that is watched up to step, or output time, `last`. Returns the status; it comes no further than an
   event that stops it, and may pause before. */
static int run_watched(GIVEN Job *job, int only_last)
{
    Events *watch = job->events;
    double *scratch = before_step(HERE watch).scratch;
    const int64_t last = job->last, every = job->every, with_inputs = job->with_inputs;
    const int width = 1 + N_S + N_OUT + (with_inputs ? N_W : 0);
    Rows to = {job->rows, job->filled, job->most_rows, &watch->n_rows, width, only_last};
    job->with_inputs = 1;
    watch->failed = 0;
    job->status = FINISHED;
    job->reached = job->first;
    if (watch->stopped < 0 && !watch->problem
        && ((job->begun == BEGUN && watch->started) || !begin_watch(LOOK &to))) {
#if HAS_ADAPTIVE
        if (job->method >= N_FIXED)
            chosen_steps_watched(LOOK last, &to);
        else
#endif
            fixed_steps_watched(LOOK last, every, &to);
    }
    if (watch->failed && !job->status)
        watch->problem = watch->problem ? watch->problem : NO_ROW;
    job->rows = to.rows;
    job->filled = to.filled;
    job->with_inputs = with_inputs;
    job->every = every;
    job->last = last;
    return job->status;
}

#undef N_EVENTS
#undef N_SETTINGS
#undef MOST_FIRED
#undef MAY_BE_UNUSED

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
