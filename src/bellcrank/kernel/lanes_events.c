/* ---- events: conditions that are watched from step to step, and what they set. A run that meets one is taken through
   its step alone, by functions that compute in all lanes; what they find in the others is not looked at. Its rows and
   states are in double precision, whatever it computes in. */

enum { WIDTH = 1 + N_S + N_OUT + N_W };

typedef struct Stride { /* a step, or what is left of it: its number, beginning and end, state and rates there */
    int64_t number;
    double begin, end;
    lanes y[N_S + 1], k[N_S + 1];
#if SINGLE
    lanes carried[N_S + 1]; /* what the numbers of y lack */
#endif
} Stride;

typedef struct Watch { /* one of the runs that is taken through a stride by itself */
    Job *job;
    int64_t lane;
    Stride *stride;
    int failed; /* something could not be had: the run is left to be done alone */
} Watch;

/* The state of one of the runs ... */
static void state_of(int64_t lane, const lanes *y, const lanes *carried, double *state)
{
    (void)carried;
    for (int i = 0; i < N_S; i++) {
        state[i] = LANE(y[i], lane);
#if SINGLE
        state[i] += LANE(carried[i], lane);
#endif
    }
}

/* ... put back in its lane, or, where that is negative, in all of them. */
static void put_state(int64_t lane, const double *state, lanes *y, lanes *carried)
{
    (void)carried;
    for (int i = 0; i < N_S; i++) {
        const scalar number = (scalar)state[i];
        if (lane < 0)
            y[i] = SAME(number);
        else
            LANE(y[i], lane) = number;
#if SINGLE
        if (carried && lane < 0)
            carried[i] = SAME(state[i] - number);
        else if (carried)
            LANE(carried[i], lane) = (scalar)(state[i] - number);
#endif
    }
}

/* When inputs are read at a time: after all jumps there. */
static double after_jumps(const Job *job, double t)
{
    const double near = GAP*job->batch->h;
    double last = t;
    for (int64_t b = 0; b < job->n_breaks; b++)
        if (fabs(job->breaks[b] - t) <= near && job->breaks[b] > last)
            last = job->breaks[b];
    return last;
}

/* The row of a state, with the inputs that are there already. */
static void row_of(const Watch *watch, double t, const double *state, const lanes *w, double *row)
{
    const Job *job = watch->job;
    lanes y[N_S + 1], out[N_OUT + 1];
    put_state(-1, state, y, NULL);
    outputs(SAME(t), y, y + N_Q, PARAMETERS(job), CONSTANTS(job), w, out, NULL);
    row[0] = t;
    memcpy(row + 1, state, N_S*sizeof *row);
    for (int i = 0; i < N_OUT; i++)
        row[1 + N_S + i] = LANE(out[i], watch->lane);
    for (int i = 0; i < N_W; i++)
        row[1 + N_S + N_OUT + i] = LANE(w[i], watch->lane);
}

/* ... and with those at its time. */
RARE static void row_after(const Watch *watch, double t, const double *state, double *row)
{
    lanes w[N_W + 1];
    set_inputs(watch->job, t, w);
    row_of(watch, t, state, w, row);
}

/* Goes on from the beginning of a stride to a time within: the state of a step that ends there. */
RARE static void go_within(Watch *watch, double until, double *state)
{
    Job *job = watch->job;
    const Stride *s = watch->stride;
    const Batch *b = job->batch;
    const double near = GAP*b->h, whole = b->t_start + (double)s->number*b->h;
    const double raster = b->t_start + (double)(s->number - 1)*b->h;
    lanes y[N_S + 1], k[N_S + 1], next[N_S + 1], w[N_W + 1], carried[N_S + 1];
    double t = s->begin;
    int64_t at = 0;
    memcpy(y, s->y, N_S*sizeof *y);
    memcpy(k, s->k, N_S*sizeof *k);
#if SINGLE
    memcpy(carried, s->carried, N_S*sizeof *carried);
#endif
    while (at < job->n_breaks && job->breaks[at] <= t + near)
        at++;
    const int cut = at < job->n_breaks && job->breaks[at] <= until + near;
    const int regular = !cut && until == whole && fabs(t - raster) <= near;
    while (t < until) {
        const Part p = next_part(job, &at, until, near);
        const double length = regular ? b->h : p.to - t;
        const double middle = regular ? b->t_start + ((double)s->number - 0.5)*b->h : 0.5*(t + p.to);
        advance(job, (scalar)length, t, middle, p.before, y, k, NULL, NULL, next, w, carried);
#if HAS_CORRECTION
        if (!LANE(corrected(job, job->alive[0], length, p.before, next, w), watch->lane))
            watch->failed = 1;
#endif
        memcpy(y, next, N_S*sizeof *y);
        t = p.to;
        if (t < until)
            rates(job, 0, p.after, y, k, w);
    }
    state_of(watch->lane, y, carried, state);
}

static double *values_of(const Watch *watch) { return watch->job->values + watch->lane*(N_VALUES + 1); }

static void event_row_at(Watch *watch, double t, double *row)
{
    double state[N_S + 1];
    go_within(watch, t, state);
    row_after(watch, t, state, row);
}

#define LOOKING Watch *watch,
#define LOOK watch,
#define LOCAL(type, name, n) type name[n]
#define EVENT(i) (&watched[i])
#define SETTING(i) (&event_settings[i])
#define ZERO(i) (&watch->job->at_zero[watch->lane*N_EVENTS + (i)])
#define CONDITION(i, row) event_condition(i, row, values_of(watch))
#define NEW_VALUE(i, row) event_value(i, row, values_of(watch))
#define OLD_VALUE(i, row) \
    (SETTING(i)->state >= 0 ? row[1 + SETTING(i)->state]/SETTING(i)->factor : values_of(watch)[SETTING(i)->value])
#define EVENT_RUN_ENDS batch_ends(watch->job->batch)

static double batch_ends(const Batch *b)
{
    return b->t_end > b->t_start ? b->t_end : b->t_start + (double)b->total*b->h;
}

/* Nothing is noted of runs side by side; one that would end in a sentence is done alone. */
static void note_event(const Watch *watch, int event, double t)
{
    (void)watch;
    (void)event;
    (void)t;
}

static void note_idle(const Watch *watch, int event, double t) { note_event(watch, event, t); }

static void event_chatters(Watch *watch, int event, double t, int how, double within)
{
    (void)event;
    (void)t;
    (void)how;
    (void)within;
    watch->failed = 1;
}

/* How fast a condition changes at a state: the difference of rows a little way along its rates. */
RARE static double event_rate(Watch *watch, int event, double t, const double *state)
{
    Job *job = watch->job;
    const double h = EVENT_GLANCE*job->batch->h;
    lanes y[N_S + 1], w[N_W + 1], k[N_S + 1];
    double moved[N_S + 1], row[WIDTH], g[2];
    put_state(-1, state, y, NULL);
    rates(job, 0, t, y, k, w);
    for (int way = 0; way < 2; way++) {
        for (int j = 0; j < N_S; j++)
            moved[j] = state[j] + (way ? -h : h)*LANE(k[j], watch->lane);
        row_after(watch, way ? t - h : t + h, moved, row);
        g[way] = CONDITION(event, row);
    }
    return (g[0] - g[1])/(2*h);
}

/* Parameters of a run; those that are set as they are now. */
static inline void parameters_of(const Watch *watch, double *p)
{
    const Job *job = watch->job;
#if SINGLE
    const Batch *b = job->batch;
    const double *v = values_of(watch);
    memcpy(p, b->p + (job->run + watch->lane)*b->p_apart, N_P*sizeof *p);
    for (int i = 0; i < N_SETTINGS; i++)
        if (event_settings[i].parameter >= 0)
            p[event_settings[i].parameter] = v[event_settings[i].value]*event_settings[i].factor;
#else
    for (int i = 0; i < N_P; i++)
        p[i] = LANE(PARAMETERS(job)[i], watch->lane);
#endif
}

#if EVENTS_CLOSE_LOOPS
#include "lanes_events_closing.c"

#endif
/* The state on the constraints before events act, or as it is where that cannot be. Is there anything to close? */
static int close_before(const Watch *watch, double t, double *y)
{
#if EVENTS_CLOSE_LOOPS
    const int set[N_S + 1] = {0};
    return mended(watch, set, t, y);
#else
    (void)watch;
    (void)t;
    (void)y;
    return 0;
#endif
}

/* Does what an event does: sets states and parameters at once. Zero if that cannot be. */
RARE static int event_act(Watch *watch, int event, double t, const double *row, double *y)
{
    Job *job = watch->job;
    double found[N_SETTINGS + 1], *v = values_of(watch);
    int others = 0, set[N_S + 1] = {0};
    (void)t;
    watch->failed = 1;
    for (int i = 0; i < N_SETTINGS; i++) {
        const Setting *s = &event_settings[i];
        if (s->event != event)
            continue;
        found[i] = NEW_VALUE(i, row);
        if (!isfinite(found[i]) || (s->positive && !(found[i] > 0.0)))
            return 0;
    }
    for (int i = 0; i < N_SETTINGS; i++) {
        const Setting *s = &event_settings[i];
        if (s->event != event)
            continue;
        if (s->state >= 0) {
            y[s->state] = found[i]*s->factor;
            set[s->state] = 1;
            continue;
        }
        if (s->parameter >= 0 && (v[s->value] < found[i] || v[s->value] > found[i])) {
            others = 1;
#if EVENTS_SET_PARAMETERS
            LANE(job->p[s->parameter], watch->lane) = (scalar)(found[i]*s->factor);
#endif
        }
        v[s->value] = found[i];
    }
#if EVENTS_SET_PARAMETERS
    if (others) {
        double p[N_P + 1], c[N_C + 1];
        parameters_of(watch, p);
        constants(p, c);
        for (int i = 0; i < N_C; i++) {
            LANE(job->c[i], watch->lane) = (scalar)c[i];
            if (!isfinite(c[i]))
                return 0;
        }
    }
#endif
    (void)others;
    (void)job;
    (void)set;
#if EVENTS_CLOSE_LOOPS
    if (!mended(watch, set, t, y))
        return 0;
#endif
    watch->failed = 0;
    return 1;
}

/* Keeps the book of actions. Zero if there may be too many in too short a time. */
static int note_action(Watch *watch, int event, double t, int pushed)
{
    Job *job = watch->job;
    const Batch *b = job->batch;
    const double span = fmin(b->h, EVENT_SPAN*(batch_ends(b) - b->t_start));
    Book *book = &job->book[watch->lane*N_EVENTS + event];
    const int soon = !pushed && book->acted && t - book->last < EVENT_SOON*b->h;
    if (!book->acted || t - book->since >= span) {
        book->since = t;
        book->acted = 0;
    }
    book->acted++;
    book->last = t;
    watch->failed = soon || book->acted > EVENT_MOST/2; /* two such spans are longer than the one that counts */
    return !watch->failed;
}

#include "event_rule.c"
/* A row of a run beside those of its steps: figures see it, and histories if it is one of their times (`number`). */
static void take_event_row(Job *job, int64_t lane, int64_t number, double t, const double *row)
{
    const Batch *b = job->batch;
    scalar numbers[WIDTH];
    for (int i = 0; i < WIDTH; i++)
        numbers[i] = (scalar)row[i];
    take_row(b, job->run + lane, number, t, numbers, 1, job->tallies + lane*b->n_figures);
}

/* A run ends, or is left to be done alone. */
static void end_one(Job *job, int64_t lane, int status)
{
    const Batch *b = job->batch;
    const int64_t run = job->run + lane;
    b->reached[run] = job->reached;
    end_tallies(b, run, job->tallies + lane*b->n_figures);
    b->status[run] = status;
    LANE(job->alive[0], lane) = 0;
}

static int state_is_finite(const double *state)
{
    for (int i = 0; i < N_S; i++)
        if (!isfinite(state[i]))
            return 0;
    return 1;
}

/* Conditions at the beginning of runs. */
static void begin_events(Job *job)
{
    lanes *carried = NULL;
#if SINGLE
    carried = job->carried;
#endif
    for (int64_t lane = 0; lane < job->used; lane++) {
        const Watch run = {job, lane, NULL, 0};
        double state[N_S + 1], row[WIDTH];
        state_of(lane, job->y, carried, state);
        row_of(&run, job->t, state, job->w, row);
        for (int event = 0; event < N_EVENTS; event++)
            job->g[lane*N_EVENTS + event] = event_condition(event, row, values_of(&run));
    }
}

/* Takes one run through a stride in which events may be; y, with what it lacks, and k, its state and rates at the end,
   become those after them. `row`: at the end; `number`: of the history, or -1 if none is recorded there. */
RARE static void meet_events(
    Job *job, int64_t lane, Stride *s, int64_t number, lanes *y, lanes *carried, lanes *k, double *row)
{
    const Batch *b = job->batch;
    double *g = job->g + lane*N_EVENTS;
    Watch run = {job, lane, s, 0}, *watch = &run;
    for (;;) {
        Crossing fired[MOST_FIRED];
        lanes from[N_S + 1], rate[N_S + 1], w[N_W + 1];
        double before[WIDTH], state[N_S + 1], ends;
        lanes *lacks = NULL;
        int stops;
#if SINGLE
        lacks = s->carried;
#endif
        state_of(lane, s->y, lacks, state);
        row_after(watch, after_jumps(job, s->begin), state, before);
        before[0] = s->begin;
        const int count = look_between(watch, g, before, row, fired, &ends, &stops);
        if (watch->failed) {
            end_one(job, lane, LEFT);
            return;
        }
        if (!(ends < HUGE_VAL))
            break;
        const int at_end = !(ends < s->end); /* then the row of this time is the one after all */
        event_row_at(watch, ends, row);
        memcpy(state, row + 1, N_S*sizeof *state);
        if (watch->failed || !state_is_finite(state)) {
            end_one(job, lane, LEFT);
            return;
        }
        take_event_row(job, lane, at_end && number >= 0 ? number : b->n_times, ends, row);
        if (count > 0) {
            stops = events_act(watch, fired, count, stops, ends, row, state);
            if (watch->failed) {
                end_one(job, lane, LEFT);
                return;
            }
            if (!at_end || number < 0 || stops >= 0)
                take_event_row(job, lane, at_end && number >= 0 ? number : b->n_times, ends, row);
        }
        if (stops >= 0) {
            b->stopped_by[job->run + lane] = stops;
            b->stopped_at[job->run + lane] = ends;
            end_one(job, lane, STOPPED);
            return;
        }
#if TWO_STEPS
        LANE(job->past[0], lane) = 0;
#endif
        put_state(-1, state, from, NULL);
        rates(job, 0, after_jumps(job, ends), from, rate, w);
        if (at_end || (int64_t)floor((ends - b->t_start)/b->h + GAP) >= s->number) {
            put_state(lane, state, y, carried);
            for (int i = 0; i < N_S; i++)
                LANE(k[i], lane) = LANE(rate[i], lane);
            break;
        }
        for (int event = 0; event < N_EVENTS; event++)
            g[event] = CONDITION(event, row);
        s->begin = ends;
        put_state(-1, state, s->y, lacks);
        memcpy(s->k, rate, N_S*sizeof *rate);
        go_within(watch, s->end, state);
        put_state(-1, state, from, NULL);
        rates(job, 0, after_jumps(job, s->end), from, rate, w);
        if (!state_is_finite(state)) {
            end_one(job, lane, LEFT);
            return;
        }
        put_state(lane, state, y, carried);
        for (int i = 0; i < N_S; i++)
            LANE(k[i], lane) = LANE(rate[i], lane);
        row_of(watch, s->end, state, w, row);
    }
    for (int event = 0; event < N_EVENTS; event++)
        g[event] = CONDITION(event, row);
}

/* Is a condition that goes from one value to another at zero, or so near that rounding may decide on its sign? */
static int is_near(AtZero *zero, double before, double after)
{
    const double least = fmin(fabs(before), fabs(after)), most = fmax(fabs(before), fabs(after));
    if (most > zero->largest && isfinite(most))
        zero->largest = most;
    return zero->waits || zero->known || least <= EVENT_ZERO*zero->largest;
}

/* Looks for events in all runs of a group at the end of a step. */
static void watch_step(Job *job, const Stride *s, int64_t number, lanes *y, lanes *carried, lanes *k, const lanes *w)
{
    lanes all[WIDTH];
    memcpy(all + 1, y, N_S*sizeof *all);
#if EVENTS_SEE_OUTPUTS
    outputs(SAME(s->end), y, y + N_Q, PARAMETERS(job), CONSTANTS(job), w, all + 1 + N_S, NULL);
#endif
    memcpy(all + 1 + N_S + N_OUT, w, N_W*sizeof *all);
    for (int64_t lane = 0; lane < job->used; lane++) {
        Watch run = {job, lane, NULL, 0};
        double row[WIDTH], after[N_EVENTS], *g = job->g + lane*N_EVENTS;
        int met = 0;
        if (!LANE(job->alive[0], lane))
            continue;
        row[0] = s->end;
        for (int i = 0; i < N_COLUMNS; i++) {
            const int column = watched_columns[i];
            row[column] = LANE(all[column], lane);
#if SINGLE
            if (column <= N_S)
                row[column] += LANE(carried[column - 1], lane);
#endif
        }
        for (int event = 0; event < N_EVENTS; event++) {
            after[event] = event_condition(event, row, values_of(&run));
            met |= is_near(&job->at_zero[lane*N_EVENTS + event], g[event], after[event])
                || (watched[event].of_time && event_is_unsure(&run, event, row, after[event]))
                || comes_over(&watched[event], 1, g[event], after[event])
                || comes_over(&watched[event], -1, g[event], after[event]);
        }
        if (met) {
            Stride own = *s;
            double state[N_S + 1], there[WIDTH];
            state_of(lane, y, carried, state);
            row_of(&run, s->end, state, w, there);
            meet_events(job, lane, &own, number, y, carried, k, there);
        } else {
            memcpy(g, after, sizeof after);
        }
    }
}
