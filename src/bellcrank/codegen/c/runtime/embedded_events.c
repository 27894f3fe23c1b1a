/* ---- events of the model. A step in which one acts or stops the model ends there; what is left of it follows, so that
   the time after every step is on the raster again. Rows and conditions are in double precision. */

@TUNING@enum { N_EVENTS = @N_EVENTS@, N_SETTINGS = @N_SETTINGS@, WIDTH = 1 + N_S + N_OUT + N_W };

@TABLES@
typedef @STEM@_at_zero AtZero;

typedef struct Watch { /* the model at the beginning of what is left of its step, and what went wrong */
    @STEM@_model *m;
    int actions, failed;
} Watch;

/* The row of the state there is, with the outputs that were found with it. */
static void row_here(const @STEM@_model *m, double *row)
{
    row[0] = m->now;
    for (int j = 0; j < N_S; j++)
        row[1 + j] = (double)m->y[j]@AND_CARRIED@;
    for (int j = 0; j < N_OUT; j++)
        row[1 + N_S + j] = (double)m->out[j];
    for (int j = 0; j < N_I; j++)
        row[1 + N_S + N_OUT + j] = (double)m->w[j];
@IF HOLD@
    for (int j = N_I; j < N_W; j++)
        row[1 + N_S + N_OUT + j] = (double)m->kept[j - N_I];
@END@
}

static void row_after(Watch *watch, double t, const double *state, double *row)
{
    @STEM@_model *m = watch->m;
    Externals externals = {@MEMORY@, 0, 0};
    real w[N_W + 1], y[N_S], out[N_OUT + 1];
    const Job job = bound(m, &externals, w);
    for (int j = 0; j < N_S; j++)
        y[j] = (real)state[j];
    outputs((real)t, y, y + N_Q, job.p, job.c, w, out, &externals);
    row[0] = t;
    memcpy(row + 1, state, N_S*sizeof *row);
    for (int j = 0; j < N_OUT; j++)
        row[1 + N_S + j] = (double)out[j];
    for (int j = 0; j < N_W; j++)
        row[1 + N_S + N_OUT + j] = (double)w[j];
}

/* The row at a time within the step: by a shorter one. */
static void event_row_at(Watch *watch, double t, double *row)
{
    @STEM@_model *m = watch->m;
    Externals externals = {@MEMORY@, 0, 0};
    real w[N_W + 1], k[N_S], next[N_S];
    double state[N_S];
@IF CARRIED@
    real carried[N_S];
@END@
@IF REMEMBERS@
    double memory[sizeof m->memory/sizeof *m->memory]; /* which stages of some methods change */
    memcpy(memory, m->memory, sizeof memory);
    externals.memory = memory;
@END@
    Job job = bound(m, &externals, w);
    job.behind = 0;
    int failed = attempt(&job, m, m->steps + 1, t, k, next, w@CARRY@);
@IF LOOPS@
    if (failed && !job.wary) {
        job.wary = 1;
        failed = attempt(&job, m, m->steps + 1, t, k, next, w@CARRY@);
    }
@END@
    watch->failed = failed ? failed : watch->failed;
    for (int j = 0; j < N_S; j++)
        state[j] = (double)next[j]@AND_WHAT_LACKS@;
    row_after(watch, t, state, row);
}

#define RARE
#define LOOKING Watch *watch,
#define LOOK watch,
#define LOCAL(type, name, n) type name[n]
#define EVENT(i) (&watched[i])
#define SETTING(i) (&event_settings[i])
#define ZERO(i) (&watch->m->at_zero[i])
#define CONDITION(i, row) event_condition(i, row, watch->m)
#define NEW_VALUE(i, row) event_value(i, row, watch->m)
#define OLD_VALUE(i, row) old_value(watch->m, SETTING(i), row)
#define EVENT_RUN_ENDS HUGE_VAL

static double old_value(const @STEM@_model *m, const Setting *s, const double *row)
{
    const double value = s->state >= 0 ? row[1 + s->state] : (double)(s->parameter >= 0 ? m->p[s->parameter]
                                                                                        : m->e[s->value]);
    return value/s->factor;
}

static void note_event(Watch *watch, int event, double t)
{
    (void)t;
    watch->m->count[event]++;
}

static void note_idle(Watch *watch, int event, double t)
{
    (void)watch;
    (void)event;
    (void)t;
}

static void event_chatters(Watch *watch, int event, double t, int how, double within)
{
    (void)event;
    (void)t;
    (void)how;
    (void)within;
    watch->failed = CHATTERS;
}

/* How fast a condition changes at a state: the difference of rows a little way along its rates. */
static double event_rate(Watch *watch, int event, double t, const double *state)
{
    @STEM@_model *m = watch->m;
    const double h = EVENT_GLANCE*(double)m->h;
    Externals externals = {@MEMORY@, 0, 0};
    real w[N_W + 1], y[N_S], k[N_S];
    double moved[N_S], row[WIDTH], g[2];
    Job job = bound(m, &externals, w);
    for (int j = 0; j < N_S; j++)
        y[j] = (real)state[j];
    if (rates(&job, 0, (real)t, y, k, w))
        watch->failed = NOT_FINITE;
    for (int way = 0; way < 2; way++) {
        for (int j = 0; j < N_S; j++)
            moved[j] = state[j] + (way ? -h : h)*(double)k[j];
        row_after(watch, way ? t - h : t + h, moved, row);
        g[way] = CONDITION(event, row);
    }
    return (g[0] - g[1])/(2*h);
}

@IF LOOPS@
/* Closes loops again after an action: what depends on the rest follows. */
static int closed_again(Watch *watch, double t, double *state)
{
    @STEM@_model *m = watch->m;
    Externals externals = {@MEMORY@, 0, 0};
    real w[N_W + 1], y[N_S];
    Job job = bound(m, &externals, w);
    for (int j = 0; j < N_S; j++)
        y[j] = (real)state[j];
    job.turns = FIRST_CORRECTIONS;
    if (@CLOSE@(&job, HUGE_VAL, (real)t, y, w))
        return NOT_CLOSED;
    for (int j = 0; j < N_S; j++)
        state[j] += (double)(y[j] - (real)state[j]);
    m->wary = job.steady < WATCHED;
    return FINISHED;
}

@END@
/* The state on the constraints before events act, or as it is where that cannot be. Is there anything to close? */
static int close_before(Watch *watch, double t, double *state)
{
@IF LOOPS@
    return closed_again(watch, t, state) == FINISHED;
@ELSE@
    (void)watch;
    (void)t;
    (void)state;
    return 0;
@END@
}

/* Does what an event does: sets states and parameters at once. Zero if that cannot be. */
static int event_act(Watch *watch, int event, double t, const double *row, double *state)
{
    @STEM@_model *m = watch->m;
    double found[N_SETTINGS + 1];
    (void)t;
    for (int i = 0; i < N_SETTINGS; i++) {
        found[i] = SETTING(i)->event == event ? NEW_VALUE(i, row) : 1.0;
        if (!isfinite(found[i]) || (SETTING(i)->positive && !(found[i] > 0.0)))
            watch->failed = NOT_FINITE;
    }
    for (int i = 0; i < N_SETTINGS; i++) {
        const Setting *s = SETTING(i);
        const double value = found[i]*s->factor;
        if (s->event != event)
            continue;
        if (s->state >= 0)
            state[s->state] = value;
        else if (s->parameter >= 0)
            m->p[s->parameter] = (real)value;
        else
            m->e[s->value] = (real)value;
    }
    constants(m->p, m->c);
    if (!all_finite(N_C, m->c))
        watch->failed = NOT_FINITE;
@IF LOOPS@
    if (!watch->failed)
        watch->failed = closed_again(watch, t, state);
@END@
    return !watch->failed;
}

/* Notes an action: too many in one step end it. Zero if that is over. */
static int note_action(Watch *watch, int event, double t, int pushed)
{
    @STEM@_model *m = watch->m;
    if ((!pushed && m->acted[event] && t - m->last[event] < EVENT_SOON*(double)m->h) || ++watch->actions > EVENT_MOST)
        watch->failed = CHATTERS;
    m->last[event] = t;
    m->acted[event] = 1;
    m->count[event]++;
    return !watch->failed;
}

@RULE@
static void conditions_at(@STEM@_model *m, const double *row)
{
    for (int i = 0; i < N_EVENTS; i++)
        m->g[i] = event_condition(i, row, m);
    memcpy(m->seen, m->w, N_I*sizeof *m->seen);
    m->tuned = 0;
}

static void begin_events(@STEM@_model *m)
{
    double row[WIDTH];
    memset(m->at_zero, 0, sizeof m->at_zero);
    memset(m->count, 0, sizeof m->count);
    memset(m->acted, 0, sizeof m->acted);
    m->stopped = -1;
    row_here(m, row);
    conditions_at(m, row);
}

/* Lets events act at a row; the model is at the state after them then. */
static int act_at(Watch *watch, Crossing *fired, int count, int stops, double *row)
{
    @STEM@_model *m = watch->m;
    const double t = row[0];
    double state[N_S];
    memcpy(state, row + 1, sizeof state);
    if (count > 0)
        stops = events_act(watch, fired, count, stops, t, row, state);
    if (watch->failed)
        return watch->failed;
    for (int j = 0; j < N_S; j++) {
        m->y[j] = (real)state[j];
@IF CARRIED@
        m->carried[j] = (real)(state[j] - (double)m->y[j]);
@END@
    }
    if (!all_finite(N_S, m->y))
        return NOT_FINITE;
    for (int j = 0; j < N_OUT; j++)
        m->out[j] = (real)row[1 + N_S + j];
@IF PAST@
    m->behind = 0;
@END@
    m->now = t;
    m->t = (real)t;
    m->stopped = stops;
    conditions_at(m, row);
    return stops < 0 ? FINISHED : STOPPED;
}

/* The events that inputs or parameters bring about which were changed since the last step. */
static int act_on_change(Watch *watch)
{
    @STEM@_model *m = watch->m;
    Crossing fired[MOST_FIRED];
    double row[WIDTH], state[N_S], values[N_EVENTS];
    int busy[N_EVENTS] = {0}, count = 0;
    row_here(m, row);
    memcpy(state, row + 1, sizeof state);
    row_after(watch, m->now, state, row);
    memcpy(values, m->g, sizeof values);
    conditions_at(m, row);
    for (int i = 0; i < N_EVENTS; i++)
        m->at_zero[i].known = 0;
    const int stops = jump_to(watch, values, m->now, row, fired, &count, busy, -1);
    return count || stops >= 0 ? act_at(watch, fired, count, stops, row) : FINISHED;
}

int @STEM@_step(@STEM@_model *m)
{
    @STEM@_model here = *m; /* which becomes the model where nothing fails */
    Watch run = {&here, 0, 0};
    const int64_t i = m->steps + 1;
    int failed = FINISHED;
    if (m->stopped >= 0)
        return STOPPED;
    if (m->tuned || memcmp(m->w, m->seen, N_I*sizeof *m->w))
        failed = act_on_change(&run);
    while (!failed && here.steps < i) {
        @STEM@_model next = here;
        Crossing fired[MOST_FIRED];
        double before[WIDTH], row[WIDTH], ends;
        int stops;
        if ((failed = take_step(&next)))
            break;
        row_here(&here, before);
        row_here(&next, row);
        const int count = look_between(&run, here.g, before, row, fired, &ends, &stops);
        if ((failed = run.failed))
            break;
        if (!(ends < HUGE_VAL)) {
            memcpy(next.at_zero, here.at_zero, sizeof next.at_zero);
            memcpy(next.count, here.count, sizeof next.count);
            here = next;
            conditions_at(&here, row);
            break;
        }
        event_row_at(&run, ends, row);
        if ((failed = run.failed))
            break;
        if (!(ends < time_of(m, i) - (double)(GAP*m->h))) { /* nothing of the step is left */
            memcpy(next.at_zero, here.at_zero, sizeof next.at_zero);
            memcpy(next.count, here.count, sizeof next.count);
            here = next;
            row[0] = time_of(m, i);
        }
        failed = act_at(&run, fired, count, stops, row);
    }
    if (!failed || failed == STOPPED)
        *m = here;
    return failed;
}
