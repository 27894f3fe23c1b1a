/* ---- events: conditions that are watched from step to step, and what they set */

@TUNING@
@IF UNIT@
struct Unit;
#define VALUE(i) watch->v[i]
@ELSE@
#define VALUE(i) parameters[i].value
@END@
enum { N_EVENTS = @N_EVENTS@, N_SETTINGS = @N_SETTINGS@, WIDTH = 1 + N_S + N_OUT + N_W, N_VALUES = @N_VALUES@ };

@TABLES@/* What an event sets: the number of a state, or else of a parameter. */
typedef struct {
    int event, state, parameter;
    double factor;    /* to equation units */
    const char *name; /* as it is told */
} Setting;

static const Setting event_settings[N_SETTINGS + 1] = {
@SETTINGS@    {-1, -1, -1, 1.0, NULL},
};

@IF LOOPS@
/* states that follow first where an event has set others */
static const int follows[N_S + 1] = {@FOLLOWS@0};

@END@
@AT_ZERO@
/* A run with events: everything beside its job. */
typedef struct Watch {
    Job *job;
    double *rows; /* to be written, and how many there are */
    int64_t filled, room;
    double h, t_end, span; /* step and end of the run, and how long it is for those that act too often, s */
    int method, goes_over; /* of methods that choose their steps: may a stiff one take the place of the first? */
@IF UNIT@
    struct Unit *unit;
    double v[N_VALUES + 1]; /* of parameters, in the units of the user */
    double g[N_EVENTS];     /* model exchange: conditions where nothing had happened yet */
@END@
    double before[WIDTH], after[WIDTH];              /* rows at the ends of the last step */
    double y[N_S + 1], k[N_S + 1], kept[N_W + 1], memory[@MEMORY@ + 1]; /* as they were before it */
    int64_t step;                                    /* its number */
    double begin;                                    /* when it began */
    AtZero at_zero[N_EVENTS];
    double times[N_EVENTS][EVENT_MOST + 1]; /* of the last actions */
    int64_t acted[N_EVENTS];
    int told_idle[N_EVENTS];
    int64_t backs;     /* how often explicit steps took their place again, before the last event that acted */
    double went_over;  /* when stiff steps took the place of explicit ones first, s */
    int reset;         /* were parameters set? */
    int jumped;        /* does the run begin again from a state that an event has left? */
    int stopped;       /* by an event */
    int failed;        /* a row that was asked for could not be had */
    int refused;       /* what an event sets cannot be */
    char problem[600]; /* what ended the run, if anything did */
} Watch;

@IF UNIT@
/* The last row is kept, and nothing told. */
static void keep_row(Watch *watch, const double *row) { memcpy(watch->rows, row, sizeof watch->before); }

static int use_values(Watch *watch);

static void tell_event(const Watch *watch, int event, double t)
{
    (void)watch;
    (void)event;
    (void)t;
}

static void tell_idle(const Watch *watch, int event, double t) { tell_event(watch, event, t); }
@ELSE@
static void keep_row(Watch *watch, const double *row)
{
    if (watch->filled == watch->room) {
        watch->room = 2*watch->room + 1000;
        watch->rows = realloc(watch->rows, (size_t)watch->room*WIDTH*sizeof *watch->rows);
        if (watch->rows == NULL) {
            problem(NULL, 0, "there is no room for the results: a larger IPRINT keeps fewer steps");
            exit(INPUT_ERROR);
        }
    }
    memcpy(watch->rows + WIDTH*watch->filled++, row, sizeof watch->before);
}

static int use_values(Watch *watch) { return find_parameters(watch->job->externals); }

static void tell_event(const Watch *watch, int event, double t)
{
    (void)watch;
    printf("%s at t = %.6g s\n", watched[event].name, t);
}

static void tell_idle(Watch *watch, int event, double t)
{
    if (!watch->told_idle[event])
        printf("note: event '%s' changes nothing at t = %.6g s\n", watched[event].name, t);
    watch->told_idle[event] = 1;
}
@END@

/* The row at a time within the last step: on the interpolation of a method that chooses its steps, else by a shorter
   step. */
static void event_row_at(Watch *watch, double t, double *row)
{
    Job look = *watch->job;
@IF ADAPTIVE@
    if (look.method >= N_FIXED) {
        watch->job->rows = row;
        if (row_once(watch->job, 0, t))
            watch->failed = 1;
        return;
    }
@END@
    double y[N_S + 1], k[N_S + 1], bad[N_S + 1], kept[N_W + 1], memory[@MEMORY@ + 1];
    Externals externals = *look.externals;
@IF LOOPS@
    double past[3*(1 + N_U)] = {0.0}, bridges[@BRIDGE_ROOM@ + 1];
    memcpy(bridges, look.bridges, sizeof bridges);
    look.past = past;
    look.bridges = bridges;
    look.most_passages = 0;
    look.n_past = look.wary = look.near = look.portions = 0;
    memset(look.visit, 0, sizeof look.visit);
    look.visit[1] = 1.0;
@END@
    memcpy(y, watch->y, sizeof y);
    memcpy(kept, watch->kept, sizeof kept);
    memcpy(memory, watch->memory, sizeof memory);
    externals.memory = memory;
    look.externals = &externals;
    look.y = y;
    look.k = k;
    look.bad = bad;
    look.kept = kept;
    look.rows = row;
    look.first = watch->step - 1;
    look.t = watch->begin;
    if (look_within(&look, t, @KNOWN@))
        watch->failed = 1;
}

/* The value of a condition at a row, in the units of the user. */
static double condition_of(const Watch *watch, int event, const double *row)
{
    switch (event) {
@CONDITIONS@    }
    (void)watch;
    (void)row;
    return 0.0;
}

/* What a setting gives, from the row before the event, and what there is. */
static double value_set(const Watch *watch, int setting, const double *row)
{
    switch (setting) {
@VALUES@    }
    (void)watch;
    (void)row;
    return 0.0;
}

static double value_now(const Watch *watch, int setting, const double *row)
{
    const int state = event_settings[setting].state;
    (void)watch;
    return state >= 0 ? row[1 + state]/event_settings[setting].factor : VALUE(event_settings[setting].parameter);
}

static AtZero *zero_of(Watch *watch, int event) { return &watch->at_zero[event]; }

static void event_chatters(Watch *watch, int event, double t, const char *how)
{
    snprintf(watch->problem, sizeof watch->problem, "stopped at t = %.6g s: event '%.100s' acts %.100s: it chatters. "
        "Let its action bring the motion to rest, or end the run (stop=True)", t, watched[event].name, how);
}

/* The row of a state, which leaves what routines remember as it is. */
static void row_after(Watch *watch, double t, const double *y, double *row)
{
    Job *job = watch->job;
    double w[N_W + 1] = {0.0};
    memcpy(w + N_I, job->kept, (N_W - N_I)*sizeof *w);
@IF INPUTS@
    set_inputs(job, t, w);
@END@
    job->rows = row;
    job->filled = 0;
    record(job, 0, t, y, w);
}

/* How fast a condition changes at a state: the difference of rows a little way along its rates. */
static double event_rate(Watch *watch, int event, double t, const double *y)
{
    Job *job = watch->job;
    const double h = EVENT_GLANCE*watch->h;
    double w[N_W + 1] = {0.0}, rates_there[N_S + 1], moved[N_S + 1], row[WIDTH], g[2];
    memcpy(w + N_I, job->kept, (N_W - N_I)*sizeof *w);
@IF INPUTS@
    set_inputs(job, t, w);
@END@
    job->externals->live = 0;
    derivatives(t, y, y + N_Q, job->p, job->c, w, rates_there, rates_there + N_Q, job->externals);
    for (int way = 0; way < 2; way++) {
        for (int j = 0; j < N_S; j++)
            moved[j] = way ? y[j] - h*rates_there[j] : y[j] + h*rates_there[j];
        row_after(watch, way ? t - h : t + h, moved, row);
        g[way] = condition_of(watch, event, row);
    }
    return (g[0] - g[1])/(2*h);
}

/* Does what an event does: sets states and parameters at once, closes loops again, and tells the changes. Zero if that
   cannot be. */
static int event_act(Watch *watch, int event, double t, const double *row, double *y)
{
    double values[N_SETTINGS + 1] = {0.0}, old[N_S + 1], earlier[N_SETTINGS + 1] = {0.0};
    int set[N_S + 1] = {0}, others = 0;
    watch->refused = 1;
    memcpy(old, y, sizeof old);
    for (int i = 0; i < N_SETTINGS; i++) {
        const Setting *s = &event_settings[i];
        if (s->event != event)
            continue;
        values[i] = value_set(watch, i, row);
        if (!isfinite(values[i])) {
            snprintf(watch->problem, sizeof watch->problem, "stopped at t = %.6g s, as an event acts: the action of "
                "event '%.100s' sets %.100s to %g, not a finite number", t, watched[event].name,
                s->name, values[i]);
            return 0;
        }
    }
    for (int i = 0; i < N_SETTINGS; i++) {
        const Setting *s = &event_settings[i];
        if (s->event != event)
            continue;
        if (s->state >= 0) {
            y[s->state] = values[i]*s->factor;
            set[s->state] = 1;
            continue;
        }
        earlier[i] = VALUE(s->parameter);
        others |= earlier[i] < values[i] || earlier[i] > values[i];
        VALUE(s->parameter) = values[i];
    }
    if (others && !use_values(watch)) {
        snprintf(watch->problem, sizeof watch->problem, "stopped at t = %.6g s, as event '%.100s' acts: the constants "
            "of the model cannot be computed: may a mass, inertia or length be zero?", t, watched[event].name);
        return 0;
    }
    watch->reset |= others;
@IF LOOPS@
    Job *job = watch->job;
    double closed[N_S + 1], residual = 0.0;
    int open = -1, first_open = -1, may[N_S + 1], reverse = 0;
    double first_left = 0.0;
    job->t = t;
    for (int attempt = 0; attempt < 2; attempt++) {
        for (int j = 0; j < N_S; j++)
            may[j] = !set[j] && (attempt > 0 || follows[j]);
        memcpy(closed, y, sizeof closed);
        if ((open = close_loops(job, closed, may, 0, &residual, &reverse)) < 0)
            break;
        if (attempt == 0) {
            first_open = open;
            first_left = residual;
        }
    }
    if (open >= 0) {
        snprintf(watch->problem, sizeof watch->problem, "stopped at t = %.6g s, as an event acts: event '%.100s' sets "
            "states against the constraints: a residual of %.3g remains in %.100s", t, watched[event].name, first_left,
            rows_of_loops[first_open]);
        return 0;
    }
    memcpy(y, closed, sizeof closed);
@END@
@IF UNIT@
    (void)old;
    (void)earlier;
@ELSE@
    printf("%s at t = %.6g s", watched[event].name, t);
    const char *before = ": ";
    for (int i = 0; i < N_SETTINGS; i++) {
        const Setting *s = &event_settings[i];
        if (s->event != event)
            continue;
        const Quantity *x = s->state >= 0 ? &states[s->state] : &parameters[s->parameter];
        const double from = s->state >= 0 ? old[s->state]/x->factor : earlier[i];
        const double to = s->state >= 0 ? y[s->state]/x->factor : values[i];
        const int unit = strcmp(x->unit, "-") != 0 && strcmp(x->unit, "?") != 0;
        printf("%s%s %.6g -> %.6g%s%s", before, x->keyword, from, to, unit ? " " : "", unit ? x->unit : "");
        before = ", ";
    }
    for (int j = 0; j < N_S; j++)
        if (!set[j] && fabs(y[j] - old[j]) > EVENT_FOLLOWED*fmax(fabs(y[j]), fabs(old[j]))) {
            const Quantity *x = &states[j];
            printf(", %s %.6g -> %.6g %s", x->keyword, old[j]/x->factor, y[j]/x->factor, x->unit);
        }
    putchar('\n');
@END@
    watch->refused = 0;
    return 1;
}

/* Keeps the book of actions: too many in too short a time end the run. Zero if that is over. */
static int note_action(Watch *watch, int event, double t, int pushed)
{
    double *times = watch->times[event];
    const int64_t n = watch->acted[event]++;
    const double h = watch->h, span = fmin(h, EVENT_SPAN*watch->span);
    const double last = n > 0 ? times[(n - 1) % (EVENT_MOST + 1)] : 0.0;
    const double first = n >= EVENT_MOST ? times[(n - EVENT_MOST) % (EVENT_MOST + 1)] : 0.0;
    times[n % (EVENT_MOST + 1)] = t;
    if (!pushed && n > 0 && t - last < EVENT_SOON*h)
        event_chatters(watch, event, t, "again at once");
    if (n >= EVENT_MOST && t - first < span) {
        char how[100];
        snprintf(how, sizeof how, "%d times within %.2g s", EVENT_MOST, t - first);
        event_chatters(watch, event, t, t > first ? how : "again and again");
    }
    return !watch->problem[0];
}

@RULE@
/* Looks at the last step. */
static int look_at_step(Watch *watch, Crossing *fired, double *ends, int *stops)
{
    double g[N_EVENTS];
    for (int event = 0; event < N_EVENTS; event++)
        g[event] = condition_of(watch, event, watch->before);
    return look_between(watch, g, watch->before, watch->after, fired, ends, stops);
}

/* Ends the last step at a time, where events act or stop the run. Is that over? */
static int end_step_at(Watch *watch, double ends, Crossing *fired, int count, int stops)
{
    Job *job = watch->job;
    event_row_at(watch, ends, watch->before);
    if (watch->failed)
        return 1;
    keep_row(watch, watch->before);
    memcpy(job->y, watch->before + 1, N_S*sizeof *job->y);
    memcpy(job->kept, watch->kept, sizeof watch->kept);
    memcpy(job->externals->memory, watch->memory, sizeof watch->memory);
    if (count > 0) {
        stops = events_act(watch, fired, count, stops, ends, watch->before, job->y);
        if (!watch->refused)
            keep_row(watch, watch->before);
    }
    job->t = ends;
    watch->jumped = 1;
    watch->stopped = stops >= 0 && !watch->problem[0];
    if (watch->stopped)
        snprintf(watch->problem, sizeof watch->problem, "stopped by event '%.100s' at t = %.6g s",
            watched[stops].name, ends);
    return watch->problem[0] || ends >= watch->t_end;
}

/* Begins again from the state there is, with nothing behind it. */
static void begin_after(Watch *watch)
{
    Job *job = watch->job;
@IF LOOPS@
    if (watch->reset)
        find_metric(job, job->y, (double *)job->root_q, (double *)job->root_u);
    memset(job->past, 0, 3*(1 + N_U)*sizeof *job->past);
    memset(job->bridges, 0, @BRIDGE_ROOM@*sizeof *job->bridges);
    job->n_past = job->wary = job->near = job->curves = job->portions = 0;
    memset(job->visit, 0, sizeof job->visit);
    job->visit[1] = 1.0;
@END@
    watch->reset = watch->jumped = 0;
    job->begun = AGAIN;
    job->first = job->last = job->reached;
    run(job);
}

/* What is remembered and kept, before a step. */
static void note_held(Watch *watch)
{
    memcpy(watch->kept, watch->job->kept, sizeof watch->kept);
    memcpy(watch->memory, watch->job->externals->memory, sizeof watch->memory);
}

static void take_fixed_steps(Watch *watch, int64_t total, int64_t every)
{
    Job *job = watch->job;
    while (!job->status && job->reached < total) {
        Crossing fired[MOST_FIRED];
        double ends;
        int stops;
        memcpy(watch->y, job->y, N_S*sizeof *job->y);
        memcpy(watch->k, job->k, N_S*sizeof *job->k);
        note_held(watch);
        watch->begin = job->t;
        job->first = job->reached;
        job->last = watch->step = job->first + 1;
        for (; job->n_breaks > 0 && job->breaks[0] < job->t - job->h; job->n_breaks--)
            job->breaks++; /* those behind are not looked through again in every step */
        job->rows = watch->after;
        job->filled = 0;
        if (run(job))
            break;
        const int count = look_at_step(watch, fired, &ends, &stops);
        if (watch->problem[0])
            break;
        if (!(ends < HUGE_VAL)) {
            if (job->reached % every == 0 || job->reached == total)
                keep_row(watch, watch->after);
            memcpy(watch->before, watch->after, sizeof watch->after);
            continue;
        }
        const int over = end_step_at(watch, ends, fired, count, stops);
        job->reached = (int64_t)floor((ends - job->t_start)/job->h + GAP);
        if (over)
            break;
        begin_after(watch);
    }
}

@IF ADAPTIVE@
/* Keeps the row of the next output time. Returns the status. */
static int keep_output(Watch *watch)
{
    Job *job = watch->job;
    double row[WIDTH];
    job->rows = row;
    job->status = row_once(job, 2, job->times[++job->reached]);
    if (!job->status)
        keep_row(watch, row);
    return job->status;
}

/* Looks at the last step in so many places, and at the output times within; else as `look_at_step`. */
static int look_along_step(Watch *watch, Crossing *fired, double *ends, int *stops)
{
    const Job *job = watch->job;
    const double begin = watch->before[0], share = (job->t - begin)/EVENT_LOOKS;
    int64_t i = job->reached + 1;
    for (int k = 1; k <= EVENT_LOOKS;) {
        const double place = k < EVENT_LOOKS ? begin + k*share : job->t;
        const double output = i <= job->total ? job->times[i] : HUGE_VAL;
        event_row_at(watch, fmin(place, output), watch->after);
        k += place <= output;
        i += output <= place;
        if (watch->failed)
            return 0;
        const int count = look_at_step(watch, fired, ends, stops);
        if (watch->problem[0] || *ends < HUGE_VAL)
            return count;
        memcpy(watch->before, watch->after, sizeof watch->after);
    }
    return 0;
}

/* Goes on with a method that chooses its steps, as if it began. */
static void choose_method(Watch *watch, int method)
{
    Job *job = watch->job;
    memset(job->work, 0, (size_t)work_room()*sizeof *job->work);
    job->method = method;
    begin_after(watch);
}

static void take_chosen_steps(Watch *watch)
{
    Job *job = watch->job;
    while (!job->status && job->reached < job->total) {
        Crossing fired[MOST_FIRED];
        double ends, kept[N_W + 1], memory[@MEMORY@ + 1];
        int stops;
        if (!(job->t < job->times[job->reached + 1])) {
            keep_output(watch);
            continue;
        }
        if (watch->goes_over && job->held && job->method < RADAU5) {
            if (!(watch->went_over > 0.0))
                watch->went_over = job->t;
            choose_method(watch, RADAU5);
            continue;
        }
        note_held(watch);
        if (step_once(job))
            break;
        memcpy(kept, job->kept, sizeof kept);
        memcpy(memory, job->externals->memory, sizeof memory);
        memcpy(job->kept, watch->kept, sizeof kept);
        memcpy(job->externals->memory, watch->memory, sizeof memory);
        const int count = look_along_step(watch, fired, &ends, &stops);
        if (watch->problem[0] || watch->failed)
            break;
        if (!(ends < HUGE_VAL)) {
            memcpy(job->kept, kept, sizeof kept);
            memcpy(job->externals->memory, memory, sizeof memory);
            continue;
        }
        while (job->times[job->reached + 1] < ends)
            if (keep_output(watch))
                return;
        note_held(watch);
        if (end_step_at(watch, ends, fired, count, stops))
            break;
        while (job->reached + 1 < job->total && job->times[job->reached + 1] <= ends + GAP*watch->h)
            job->reached++;
        watch->backs += job->backs;
        job->backs = 0;
        job->held = 0;
        choose_method(watch, watch->method);
    }
}

@END@
@IF UNIT@
@ELSE@
/* Takes the steps of a run one by one, lets events act, and begins again at each that does. */
static void watch_run(Job *job, Watch *watch)
{
    const int64_t total = job->total, every = job->every;
    watch->job = job;
    watch->h = settings.step;
    watch->t_end = watch->span = settings.t_end;
    watch->goes_over = settings.method == AUTO;
    watch->method = watch->goes_over ? TSIT5 : settings.method;
    job->every = 1;
    job->first = job->last = 0;
    job->rows = watch->before;
    run(job);
    if (job->filled > 0)
        keep_row(watch, watch->before);
    if (job->method >= N_FIXED)
        take_chosen_steps(watch);
    else
        take_fixed_steps(watch, total, every);
    job->backs += watch->backs;
    if (watch->failed)
        snprintf(watch->problem, sizeof watch->problem, "stopped at t = %.6g s: the rates cannot be evaluated any "
            "more; try a smaller step", job->t);
    job->rows = watch->rows;
    job->filled = watch->filled;
}
@END@
