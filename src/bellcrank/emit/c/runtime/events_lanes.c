/* ---- events: conditions that are watched from step to step, and what they set. A run that meets one is taken through
   its step alone, by functions that compute in all lanes; what they find in the others is not looked at. */

@TUNING@enum { N_SETTINGS = @N_SETTINGS@, WIDTH = 1 + N_S + N_OUT + N_W };

@TABLES@typedef struct Setting { /* a state, or else a value and maybe a parameter, by their numbers */
    int event, state, value, parameter, positive;
    double factor; /* to equation units */
} Setting;

static const Setting EVENT_SETTINGS[N_SETTINGS + 1] = {
@SETTINGS@    {-1, -1, -1, -1, 0, 1.0},
};

typedef struct Stride { /* a step, or what is left of it: its number, beginning and end, state and rates there */
    int64_t number;
    double begin, end;
    lanes y[N_S + 1], k[N_S + 1];
    int failed; /* something could not be had: the run is left to be done alone */
} Stride;

/* The value of a condition at a row of numbers `apart` from each other, in the units of the user; v: parameters. */
static double event_condition(int event, const double *row, int64_t apart, const double *v)
{
    (void)v;
    (void)row;
    (void)apart;
    switch (event) {
@CONDITIONS@    }
    return 0.0;
}

/* The value that a setting gives, from the row before the event. */
static double event_value(int setting, const double *row, int64_t apart, const double *v)
{
    (void)v;
    (void)row;
    (void)apart;
    switch (setting) {
@VALUES@    }
    return 0.0;
}

static double condition_of(const Job *job, int64_t lane, int event, const lanes *row)
{
    return event_condition(event, (const double *)row + lane, N_LANES, job->values + lane*(N_VALUES + 1));
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
static void row_of(const Job *job, double t, const lanes *y, const lanes *w, lanes *row)
{
    row[0] = SAME(t);
    memcpy(row + 1, y, N_S*sizeof *row);
    outputs(SAME(t), y, y + N_Q, PARAMETERS(job), CONSTANTS(job), w, row + 1 + N_S, NULL);
    memcpy(row + 1 + N_S + N_OUT, w, N_W*sizeof *row);
}

/* ... and with those at its time. */
static void row_at(const Job *job, double t, const lanes *y, lanes *row)
{
    lanes w[N_W + 1];
@IF SET@
    set_inputs(job, t, w);
@END@
    row_of(job, t, y, w, row);
}

/* Goes on from the beginning of a stride to a time within: the state of a step that ends there. */
static void go_within(Job *job, int64_t lane, Stride *s, double until, lanes *y)
{
    const Batch *b = job->batch;
    const double near = GAP*b->h, whole = b->t_start + (double)s->number*b->h;
    const double raster = b->t_start + (double)(s->number - 1)*b->h;
    lanes k[N_S + 1], next[N_S + 1], w[N_W + 1];
    double t = s->begin;
    int64_t at = 0;
    memcpy(y, s->y, N_S*sizeof *y);
    memcpy(k, s->k, N_S*sizeof *k);
    while (at < job->n_breaks && job->breaks[at] <= t + near)
        at++;
    const int cut = at < job->n_breaks && job->breaks[at] <= until + near;
    const int regular = !cut && until == whole && fabs(t - raster) <= near;
    while (t < until) {
        const Part p = next_part(job, &at, until, near);
        const double length = regular ? b->h : p.to - t;
        const double middle = regular ? b->t_start + ((double)s->number - 0.5)*b->h : 0.5*(t + p.to);
        advance(job, length, t, middle, p.before, y, k, next, w, NULL);
@IF LOOPS@
        if (!LANE(corrected(job, job->alive[0], length, p.before, next, w), lane))
            s->failed = 1;
@END@
        memcpy(y, next, N_S*sizeof *y);
        t = p.to;
        if (t < until)
            rates(job, 0, p.after, y, k, w);
    }
    (void)lane;
}

static double event_at_time(Job *job, int64_t lane, Stride *s, int event, double t)
{
    lanes y[N_S + 1], row[WIDTH];
    go_within(job, lane, s, t, y);
    row_at(job, t, y, row);
    return condition_of(job, lane, event, row);
}

/* By how much rounding changes a condition. */
static double event_noise(const Job *job, int64_t lane, int event, const lanes *row)
{
    const double *v = job->values + lane*(N_VALUES + 1), g = condition_of(job, lane, event, row);
    double moved[WIDTH], largest = 0.0;
    for (int way = 0; way < 2; way++) {
        for (int j = 0; j < WIDTH; j++)
            moved[j] = LANE(row[j], lane)*(1.0 + EVENT_ROUNDING*(way == 0 || j % 2 ? 1.0 : -1.0));
        largest = fmax(largest, fabs(event_condition(event, moved, 1, v) - g));
    }
    return largest;
}

@CROSSING@
/* Follows a condition that was zero at the start of a stride to its first sign. What comes back within is found. */
static void leave_zero(Job *job, int64_t lane, Stride *s, int event, const lanes *row, double later, Crossing *found,
    int *n)
{
    AtZero *zero = &job->at_zero[lane*N_EVENTS + event];
    lanes before[WIDTH];
    row_at(job, after_jumps(job, s->begin), s->y, before);
    const double around = 4*fmax(event_noise(job, lane, event, before), event_noise(job, lane, event, row));
    const double size = fabs(later), a = s->begin, length = s->end - a;
    if (size <= around + EVENT_ZERO*zero->size) {
        zero->looks--;
        return;
    }
    zero->waits = 0;
    if (zero->side*later < 0.0)
        return;
    for (int k = 1; k <= EVENT_HALVINGS; k++) {
        const double t = a + length*ldexp(1.0, -k), value = event_at_time(job, lane, s, event, t);
        if (zero->side*value < -around) {
            const double when =
                event_crossing(job, lane, s, event, zero->side, t, a + length*ldexp(1.0, 1 - k), value, later);
            put_crossing(found, n, when, size, event, zero->side);
            return;
        }
        later = value;
    }
    if (zero->turns && zero->looks > 0)
        s->failed = 1; /* it acts again and again at one time */
}

/* Looks at a stride, with conditions g at its beginning and a row at its end. Returns how many events are to act;
   *ends: when the first that acts or stops does, *stops: the event that stops the run, or -1. */
static int look_at_stride(Job *job, int64_t lane, Stride *s, const double *g, const lanes *row, Crossing *fired,
    double *ends, int *stops)
{
    Crossing found[2*N_EVENTS];
    int n = 0, count = 0;
    *ends = HUGE_VAL;
    *stops = -1;
    for (int event = 0; event < N_EVENTS; event++) {
        const double before = g[event], after = condition_of(job, lane, event, row);
        if (job->at_zero[lane*N_EVENTS + event].waits) {
            leave_zero(job, lane, s, event, row, after, found, &n);
            continue;
        }
        for (int side = 1; side >= -1; side -= 2)
            if (comes_over(event, side, before, after)) {
                const double when = event_crossing(job, lane, s, event, side, s->begin, s->end, before, after);
                put_crossing(found, &n, when, fmax(fabs(before), fabs(after)), event, side);
            }
    }
    for (int i = 0; i < n && !(found[i].time > *ends + EVENT_INSTANT*fmax(1.0, fabs(*ends))); i++) {
        const Watched *w = &watched[found[i].event];
        if (!(*ends < HUGE_VAL))
            *ends = found[i].time;
        if (w->acts)
            fired[count++] = found[i];
        if (w->stops && *stops < 0)
            *stops = found[i].event;
    }
    return count;
}

static int event_is_zero(const Job *job, int64_t lane, int event, const lanes *row, double size)
{
    return fabs(condition_of(job, lane, event, row)) <= EVENT_ZERO*size + 4*event_noise(job, lane, event, row);
}

/* How fast a condition changes at a state: the difference of rows a little way along its rates. */
static double event_rate(Job *job, int64_t lane, int event, double t, const lanes *y)
{
    const double h = EVENT_GLANCE*job->batch->h;
    lanes w[N_W + 1], k[N_S + 1], moved[N_S + 1], row[WIDTH];
    double g[2];
    rates(job, 0, t, y, k, w);
    for (int way = 0; way < 2; way++) {
        for (int j = 0; j < N_S; j++)
            moved[j] = way ? y[j] - SAME(h)*k[j] : y[j] + SAME(h)*k[j];
        row_at(job, way ? t - h : t + h, moved, row);
        g[way] = condition_of(job, lane, event, row);
    }
    return (g[0] - g[1])/(2*h);
}

/* Does what an event does: sets states and parameters at once. Zero if that cannot be. */
static int event_act(Job *job, int64_t lane, int event, const lanes *row, lanes *y)
{
    double found[N_SETTINGS + 1], *v = job->values + lane*(N_VALUES + 1);
    int others = 0;
    for (int i = 0; i < N_SETTINGS; i++) {
        const Setting *s = &EVENT_SETTINGS[i];
        if (s->event != event)
            continue;
        found[i] = event_value(i, (const double *)row + lane, N_LANES, v);
        if (!isfinite(found[i]) || (s->positive && !(found[i] > 0.0)))
            return 0;
    }
    for (int i = 0; i < N_SETTINGS; i++) {
        const Setting *s = &EVENT_SETTINGS[i];
        if (s->event != event)
            continue;
        if (s->state >= 0) {
            LANE(y[s->state], lane) = found[i]*s->factor;
            continue;
        }
        if (s->parameter >= 0 && (v[s->value] < found[i] || v[s->value] > found[i])) {
            others = 1;
@IF PARAMETERS@
            LANE(job->p[s->parameter], lane) = found[i]*s->factor;
@END@
        }
        v[s->value] = found[i];
    }
@IF PARAMETERS@
    if (others) {
        double p[N_P + 1], c[N_C + 1];
        for (int i = 0; i < N_P; i++)
            p[i] = LANE(job->p[i], lane);
        constants(p, c);
        for (int i = 0; i < N_C; i++) {
            LANE(job->c[i], lane) = c[i];
            if (!isfinite(c[i]))
                return 0;
        }
    }
@END@
    (void)others;
    return 1;
}

/* Keeps the book of actions. Zero if there may be too many in too short a time. */
static int note_action(Job *job, int64_t lane, int event, double t)
{
    const Batch *b = job->batch;
    const double end = b->t_end > b->t_start ? b->t_end : b->t_start + (double)b->total*b->h;
    const double span = fmin(b->h, EVENT_SPAN*(end - b->t_start));
    Book *book = &job->book[lane*N_EVENTS + event];
    const int soon = book->acted && t - book->last < EVENT_SOON*b->h;
    if (!book->acted || t - book->since >= span) {
        book->since = t;
        book->acted = 0;
    }
    book->acted++;
    book->last = t;
    return !soon && book->acted <= EVENT_MOST/2; /* two such spans are longer than the one that counts */
}

/* Lets all events at the time of a row act, and those that they bring about. `row` becomes the one after them, y its
   state; returns the event that stops the run, or -1. */
static int events_act(Job *job, int64_t lane, Stride *s, Crossing *fired, int count, int stops, double t, lanes *row,
    lanes *y)
{
    double before[N_EVENTS], rates_before[2*N_EVENTS];
    int busy[N_EVENTS], done = 0;
    AtZero *zero = job->at_zero + lane*N_EVENTS;
    for (int i = 0; i < N_EVENTS; i++)
        busy[i] = 0;
    for (int i = 0; i < count; i++)
        busy[fired[i].event] = 1;
    for (; done < count; done++) {
        const int event = fired[done].event;
        rates_before[done] = event_rate(job, lane, event, t, y);
        for (int i = 0; i < N_EVENTS; i++)
            before[i] = condition_of(job, lane, i, row);
        if (!event_act(job, lane, event, row, y) || !note_action(job, lane, event, t)) {
            s->failed = 1;
            return stops;
        }
        row_at(job, t, y, row);
        for (int i = 0; i < N_EVENTS; i++)
            for (int side = 1; side >= -1; side -= 2) {
                const double after = condition_of(job, lane, i, row), size = fmax(fabs(before[i]), fabs(after));
                if (busy[i] || !comes_over(i, side, before[i], after))
                    continue;
                if (watched[i].strict == 0 && event_is_zero(job, lane, i, row, 0.0)) {
                    zero[i].waits = 1;
                    zero[i].side = side;
                    zero[i].turns = 0;
                    zero[i].looks = 2;
                    zero[i].size = size;
                    continue;
                }
                if (watched[i].stops && stops < 0)
                    stops = i;
                if (watched[i].acts) {
                    int none = 0; /* behind those that are there, whatever their order */
                    put_crossing(fired + count++, &none, t, size, i, side);
                    busy[i] = 1;
                }
            }
    }
    for (int i = 0; i < N_EVENTS; i++)
        zero[i].waits = zero[i].waits && event_is_zero(job, lane, i, row, zero[i].size);
    for (int i = 0; i < done; i++)
        if (event_is_zero(job, lane, fired[i].event, row, fired[i].size)) {
            const double after = fired[i].side*event_rate(job, lane, fired[i].event, t, y);
            AtZero *own = &zero[fired[i].event];
            own->waits = 1;
            own->side = fired[i].side;
            own->turns = !(after > EVENT_STILL*fabs(rates_before[i]));
            own->looks = 2;
            own->size = fired[i].size;
        }
    return stops;
}

/* A row of a run beside those of its steps: figures see it, and histories if it is one of their times (`number`). */
static void take_event_row(Job *job, int64_t lane, int64_t number, double t, const lanes *row)
{
    const Batch *b = job->batch;
    take_row(b, job->run + lane, number, t, (const scalar *)row + lane, N_LANES, job->tallies + lane*b->n_figures);
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

static int lane_is_finite(int64_t lane, const lanes *y)
{
    for (int i = 0; i < N_S; i++)
        if (!isfinite(LANE(y[i], lane)))
            return 0;
    return 1;
}

/* Conditions at the beginning of runs. */
static void begin_events(Job *job)
{
    lanes row[WIDTH];
    row_of(job, job->t, job->y, job->w, row);
    for (int64_t lane = 0; lane < job->used; lane++)
        for (int event = 0; event < N_EVENTS; event++)
            job->g[lane*N_EVENTS + event] = condition_of(job, lane, event, row);
}

/* Takes one run through a stride in which events may be; y and k, its state and rates at the end, become those after
   them. `row`: at the end; `number`: of the history, or -1 if none is recorded there. */
RARE static void meet_events(Job *job, int64_t lane, Stride *s, int64_t number, lanes *y, lanes *k, lanes *row)
{
    const Batch *b = job->batch;
    double *g = job->g + lane*N_EVENTS;
    for (;;) {
        Crossing fired[3*N_EVENTS];
        lanes state[N_S + 1], rate[N_S + 1], w[N_W + 1];
        double ends;
        int stops;
        const int count = look_at_stride(job, lane, s, g, row, fired, &ends, &stops);
        if (s->failed) {
            end_one(job, lane, LEFT);
            return;
        }
        if (!(ends < HUGE_VAL))
            break;
        const int at_end = !(ends < s->end); /* then the row of this time is the one after all */
        go_within(job, lane, s, ends, state);
        row_at(job, ends, state, row);
        if (s->failed || !lane_is_finite(lane, state)) {
            end_one(job, lane, LEFT);
            return;
        }
        take_event_row(job, lane, at_end && number >= 0 ? number : b->n_times, ends, row);
        if (count > 0) {
            stops = events_act(job, lane, s, fired, count, stops, ends, row, state);
            if (s->failed) {
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
        rates(job, 0, after_jumps(job, ends), state, rate, w);
        if (at_end || (int64_t)floor((ends - b->t_start)/b->h + GAP) >= s->number) {
            for (int i = 0; i < N_S; i++) {
                LANE(y[i], lane) = LANE(state[i], lane);
                LANE(k[i], lane) = LANE(rate[i], lane);
            }
            break;
        }
        for (int event = 0; event < N_EVENTS; event++)
            g[event] = condition_of(job, lane, event, row);
        s->begin = ends;
        memcpy(s->y, state, N_S*sizeof *state);
        memcpy(s->k, rate, N_S*sizeof *rate);
        go_within(job, lane, s, s->end, state);
        rates(job, 0, after_jumps(job, s->end), state, rate, w);
        if (!lane_is_finite(lane, state)) {
            end_one(job, lane, LEFT);
            return;
        }
        for (int i = 0; i < N_S; i++) {
            LANE(y[i], lane) = LANE(state[i], lane);
            LANE(k[i], lane) = LANE(rate[i], lane);
        }
        row_of(job, s->end, state, w, row);
    }
    for (int event = 0; event < N_EVENTS; event++)
        g[event] = condition_of(job, lane, event, row);
}

/* Looks for events in all runs of a group at the end of a step. */
static void watch_step(Job *job, const Stride *s, int64_t number, lanes *y, lanes *k, const lanes *w)
{
    lanes row[WIDTH];
    row[0] = SAME(s->end);
    memcpy(row + 1, y, N_S*sizeof *row);
@IF SEEN@
    outputs(SAME(s->end), y, y + N_Q, PARAMETERS(job), CONSTANTS(job), w, row + 1 + N_S, NULL);
@END@
    memcpy(row + 1 + N_S + N_OUT, w, N_W*sizeof *row);
    for (int64_t lane = 0; lane < job->used; lane++) {
        double after[N_EVENTS], *g = job->g + lane*N_EVENTS;
        int met = 0;
        if (!LANE(job->alive[0], lane))
            continue;
        for (int event = 0; event < N_EVENTS; event++) {
            after[event] = condition_of(job, lane, event, row);
            met |= job->at_zero[lane*N_EVENTS + event].waits || comes_over(event, 1, g[event], after[event])
                || comes_over(event, -1, g[event], after[event]);
        }
        if (met) {
            Stride own = *s;
            lanes there[WIDTH];
            row_of(job, s->end, y, w, there);
            meet_events(job, lane, &own, number, y, k, there);
        } else {
            memcpy(g, after, sizeof after);
        }
    }
}

