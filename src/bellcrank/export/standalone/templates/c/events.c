/* ---- events: what is watched and what is set, as data for the kernel */

enum { N_EVENTS = @N_EVENTS@, N_SETTINGS = @N_SETTINGS@, N_VALUES = @N_VALUES@, LONGEST_FORMULA = @LONGEST@ };

static const char *const event_names[] = {@NAMES@};
static const char *const setting_names[] = {@SETTING_NAMES@""};

static const Watched watched[] = {
@WATCHED@};
static const Setting event_settings[] = {
@SETTINGS@    {-1, -1, -1, 0, 0, 1.0},
};
static const FormulaStep formula_steps[] = {
@STEPS@};
static const int32_t follows[N_S + 1] = {@FOLLOWS@0}; /* states that loops move first where an event has set others */

/* All that belongs to the events of a run. Pointers are set before it is used. */
typedef struct EventMemory {
    Events events;
    double values[N_VALUES + 1]; /* of parameters, in the units of the user */
    AtZero at_zero[N_EVENTS];
    Counted counted[N_EVENTS];
    double times[N_EVENTS*(EVENT_MOST + 1)], room[EVENT_ROOM(N_EVENTS, LONGEST_FORMULA, @MEMORY@)];
@IF UNIT@
    double g[N_EVENTS]; /* model exchange: conditions where nothing had happened yet */
@END@
} EventMemory;

static int use_values(void *job);

static Events *bind_events(EventMemory *m)
{
    Events *e = &m->events;
    e->watched = watched;
    e->settings = event_settings;
    e->steps = formula_steps;
    e->follows = follows;
    e->values = m->values;
    e->use_values = use_values;
    e->at_zero = m->at_zero;
    e->counted = m->counted;
    e->times = m->times;
    e->room = m->room;
    return e;
}

/* A run of some length that has not begun, with steps of a length. */
static Events *begin_events(EventMemory *m, double h, double span, double until)
{
    Events *e = bind_events(m);
    e->n_events = N_EVENTS;
    e->n_settings = N_SETTINGS;
    e->n_values = N_VALUES;
    e->longest = LONGEST_FORMULA;
    e->n_held = @MEMORY@;
@IF WHEELS@
    e->n_modes = N_WHEELS*N_MODES;
@END@
    e->h = h;
    e->span = span;
    e->until = until;
    e->stopped = -1;
    for (int i = 0; i < N_EVENTS; i++)
        m->counted[i].idle = m->counted[i].undefined = NAN;
    return e;
}

/* What an event has ended; nonzero if one has ended anything. */
static int explain_events(const Events *e, char *text, size_t size)
{
    const char *name = event_names[e->problem ? e->culprit : e->stopped >= 0 ? e->stopped : 0];
    char how[100] = "again and again";
    text[0] = '\0';
    switch (e->problem) {
    case NO_PROBLEM:
        if (e->stopped >= 0)
            snprintf(text, size, "stopped by event '%.100s' at t = %.6g s", name, e->when);
        break;
    case AGAIN_AT_ONCE:
        strcpy(how, "again at once"); /* fall through */
    case TOO_OFTEN:
        if (e->problem == TOO_OFTEN)
            snprintf(how, sizeof how, "%d times within %.2g s", EVENT_MOST, e->amount); /* fall through */
    case AGAIN_AND_AGAIN:
        snprintf(text, size, "stopped at t = %.6g s: event '%.100s' fires repeatedly (chattering, %.100s). Set "
            "the speed to zero in the action, or stop the run with stop=True", e->when, name, how);
        break;
    case SETS_NO_NUMBER:
        snprintf(text, size, "stopped at t = %.6g s, as an event acts: the action of event '%.100s' sets %.100s to %g, "
            "not a finite number", e->when, name, setting_names[e->item], e->amount);
        break;
    case NO_VALUES:
        snprintf(text, size, "stopped at t = %.6g s, as event '%.100s' acts: the constants of the model cannot be "
            "computed: may a mass, inertia or length be zero?", e->when, name);
        break;
@IF LOOPS@
    case NOT_ON_CONSTRAINTS:
        snprintf(text, size, "stopped at t = %.6g s, as an event acts: event '%.100s' sets states against the "
            "constraints: a residual of %.3g remains in %.100s", e->when, name, e->amount, rows_of_loops[e->item]);
        break;
@END@
    default:
        snprintf(text, size, "stopped: the rates cannot be evaluated any more; try a smaller step");
    }
    return e->problem || e->stopped >= 0;
}
@IF UNIT@
@ELSE@

static EventMemory watch;

static int use_values(void *job)
{
    for (int i = 0; i < N_VALUES; i++)
        parameters[i].value = watch.values[i];
    return !find_parameters(((Job *)job)->externals);
}

/* Tells what happened since this was called last. */
static void tell_events(Events *e)
{
    for (int64_t i = 0; i < e->n_happenings; i++) {
        const Happening *x = &e->happenings[i];
        const double *from = e->changes + i*2*(N_S + N_VALUES), *to = from + N_S, *old = to + N_S;
        const char *before = ": ";
        int set[N_S + 1] = {0};
        if (x->acted == CHANGED_NOTHING) {
            printf("note: event '%s' changes nothing at t = %.6g s\n", event_names[x->event], x->time);
            continue;
        }
        printf("%s at t = %.6g s", event_names[x->event], x->time);
        for (int k = 0; k < N_SETTINGS && x->acted; k++) {
            const Setting *s = &event_settings[k];
            if (s->event != x->event)
                continue;
            const Quantity *q = s->state >= 0 ? &states[s->state] : &parameters[s->value];
            const double was = s->state >= 0 ? from[s->state]/q->factor : old[s->value];
            const double is = s->state >= 0 ? to[s->state]/q->factor : old[N_VALUES + s->value];
            const int unit = strcmp(q->unit, "-") != 0 && strcmp(q->unit, "?") != 0;
            printf("%s%s %.6g -> %.6g%s%s", before, q->keyword, was, is, unit ? " " : "", unit ? q->unit : "");
            before = ", ";
            if (s->state >= 0)
                set[s->state] = 1;
        }
        for (int j = 0; j < N_S && x->acted; j++)
            if (!set[j] && fabs(to[j] - from[j]) > EVENT_FOLLOWED*fmax(fabs(to[j]), fabs(from[j])))
                printf(", %s %.6g -> %.6g %s", states[j].keyword, from[j]/states[j].factor, to[j]/states[j].factor,
                    states[j].unit);
        putchar('\n');
    }
    e->n_happenings = 0;
}

/* A whole run; `ended` tells which event has ended it, if one has. Returns when stiff steps took the place of explicit
   ones first, s; 0 if they did not. */
static double run_with_events(Job *job, char *ended, size_t size)
{
    static Happening happenings[100*N_EVENTS];
    static double changes[100*N_EVENTS][2*(N_S + N_VALUES) + 1];
    Events *e = begin_events(&watch, settings.step, settings.t_end, settings.t_end);
    for (int i = 0; i < N_VALUES; i++)
        watch.values[i] = parameters[i].value;
    e->method = job->method;
    e->happenings = happenings;
    e->changes = changes[0];
    e->most_happenings = 100*N_EVENTS;
    job->events = e;
    do {
        const int64_t ahead = job->method < N_FIXED ? 0 : job->total - job->reached;
        if (job->filled + ahead + 8 > job->most_rows) {
            job->most_rows = 2*job->most_rows + ahead + 1000;
            job->rows = realloc(job->rows, (size_t)job->most_rows*(1 + N_S + N_OUT + N_W)*sizeof *job->rows);
            if (job->rows == NULL) {
                problem(NULL, 0, "there is no room for the results: a larger IPRINT keeps fewer steps");
                exit(INPUT_ERROR);
            }
        }
        job->first = job->reached;
        job->last = job->total;
        run(job);
        tell_events(e);
@REPORT@    } while (!job->status && job->reached < job->total && !explain_events(e, ended, size));
    explain_events(e, ended, size);
    return e->went_over;
}
@END@
