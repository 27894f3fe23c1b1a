/* @TITLE@: a functional mock-up unit, as far as it is the same for every version of FMI. Written by Bellcrank.

   The equations of motion are in model.c. Values are in equation units, as modelDescription.xml says. Value references
   count: time | states | rates of states | parameters | inputs | outputs | event indicators | speed at the start. */

#include "model.c"

#include <float.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

@TUNING@
#define TOKEN @TOKEN@
#define STEP_SIZE @STEP@ /* of co-simulation, s */
#define METHOD @METHOD@
enum { COSIMULATION_ALONE = @ALONE@ }; /* no model exchange: the kernel moves more than states */
@IF ADAPTIVE@
#define TOLERANCE @RTOL@
enum { GOES_OVER = @GOES_OVER@ }; /* to a stiff method, if a fast mode asks for it? */
@END@

enum { N_GIVEN = @N_GIVEN@, N_OWN = @N_OWN@, N_MEMORY = @N_MEMORY@, N_KEPT = N_W - N_I, N_JUMPS = @N_JUMPS@,
    N_INDICATORS = @N_INDICATORS@ };
enum { /* slopes of rates, then outputs, by states, then inputs: the first are exact, the rest by differences */
    N_EXACT = @N_EXACT@, N_ENTRIES = @N_ENTRIES@
};
enum { /* value references */
    R_TIME,
    R_STATE,
    R_RATE = R_STATE + N_S,
    R_PARAMETER = R_RATE + N_S,
    R_INPUT = R_PARAMETER + N_GIVEN + N_OWN, /* the last of them stand in events alone */
    R_OUTPUT = R_INPUT + N_I,
    R_INDICATOR = R_OUTPUT + N_OUT,
    R_SPEED = R_INDICATOR + N_INDICATORS,
    R_END = R_SPEED + @N_ROLLS@
};
enum { /* what a unit is in */
    INSTANTIATED = 1, INITIALIZING = 2, EVENTS = 4, CONTINUOUS = 8, STEPPING = 16, TERMINATED = 32, FAILED = 64,
    RUNNING = EVENTS | CONTINUOUS | STEPPING, BEFORE = INSTANTIATED | INITIALIZING, ANYTHING = 127
};
enum { FINE, WARNED, DISCARDED, WRONG }; /* what a call came to */

static const double START_STATE[] = {@START_STATE@};
static const double START_PARAMETER[] = {@START_PARAMETER@};
@IF ROLLS@
static const double BY_SPEED[][@POWERS@] = {@BY_SPEED@}; /* states by powers of the speed at the start */
@END@
static const double START_INPUT[] = {@START_INPUT@};
static const double NOMINAL[] = {@NOMINAL@}; /* sizes of states */
@IF ADAPTIVE@
static const int64_t UNIT_GROUP[] = {@UNIT_GROUPS@}; /* of the states: a number for each unit */
@END@
static const char IS_FIXED[] = {@IS_FIXED@}; /* parameters that can be set before the start only */
@IF INPUT_SLOPES@
static const int RATE_OF[] = {@RATE_OF@}; /* of each input the number of that which is its rate, or -1 */
@END@
static const int ENTRY[][2] = {@ENTRIES@}; /* row and column of each slope */

@IF LOOPS@
static const int START_GIVEN[] = {@START_GIVEN@};
static const char *const STATE_NAME[] = {@STATE_NAMES@};

@ASSEMBLY@
@END@
@IF EVENTS@
@EVENTS@
static const double VALUE_FACTOR[] = {@VALUE_FACTORS@}; /* of parameters, to equation units */
static const double START_VALUE[] = {@START_VALUES@};   /* in the units of the user */

@END@
/* All that can be set or that goes on from step to step, without memory elsewhere: a copy of it is the state of a unit.
   The pointers of the job are set before each use, and NULL in copies. */
typedef struct State {
    Job job;
    double y[N_S + 1], k[N_S + 1], old[N_S + 1], p[N_P + 1], w[N_I + 1], slope[N_I + 1], kept[N_KEPT + 1];
    double memory[N_MEMORY + 1], rates[N_S + 1], out[N_OUT + 1];
@IF WHEELS@
    double modes[N_WHEELS*N_MODES], depths[N_WHEELS];
@END@
@IF DAE@
    double frozen[2*N_V + 1];
@END@
@IF PROJECTED@
    double root_q[N_Q + 1], root_u[N_U + 1], past[3*(1 + N_U)], bridges[@BRIDGE_ROOM@ + 1];
@END@
@IF LOOPS@
    int32_t given[N_S + 1]; /* is the initial value of a state told, or found from the others? */
    int32_t assembled;
@END@
@IF ROLLS@
    double speed; /* at the start */
@END@
    int32_t mode, cosimulation;
    int32_t changed; /* since the last step of co-simulation */
    int32_t has_rates, has_outputs;
@IF ADAPTIVE@
    double tolerance, largest[N_S + 1];
@END@
@IF EVENTS@
    EventMemory watch;
@END@
} State;

typedef struct Unit {
    State s;
    double c[N_C + 1], slopes[N_ENTRIES + 1], bad[N_S + 1], row[1 + N_S + N_OUT + N_W];
    int has_constants, has_slopes;
    Externals x;
    Input inputs[N_I + 1];
    double ends[2], lines[N_I + 1][4];
@IF ADAPTIVE@
    double times[2], allowed[N_S + 1], caps[N_S + 1], work[@WORK_ROOM@];
@END@
    char said[512]; /* what went wrong */
} Unit;

@IF ADAPTIVE@
@CAPS@
@END@
static int complain(Unit *m, int how, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(m->said, sizeof m->said, format, arguments);
    va_end(arguments);
    return how;
}

/* Is a call out of place? */
static int out_of_place(Unit *m, const char *call, int allowed)
{
    const int mode = m->s.mode;
    if (mode & allowed)
        return 0;
    return complain(m, WRONG, "%s cannot be called %s", call, mode == INSTANTIATED ? "before the initialization"
        : mode == INITIALIZING ? "during the initialization" : mode == EVENTS ? "in event mode"
        : mode == CONTINUOUS ? "in continuous-time mode" : mode == STEPPING ? "between steps"
        : mode == TERMINATED ? "after the end" : "after an error: reset the unit, or restore a state");
}

/* Something was set: what followed from it holds no more. */
static void forget(Unit *m, int parameters)
{
    if (parameters)
        m->has_constants = 0;
@IF LOOPS@
    m->s.assembled = 0;
@END@
    m->s.changed = 1;
    m->s.has_rates = m->s.has_outputs = m->has_slopes = 0;
}

/* A number is set. */
static void put(Unit *m, double *place, double value, int parameters)
{
    if (memcmp(place, &value, sizeof value) != 0) {
        *place = value;
        forget(m, parameters);
    }
}

/* The state of a unit that is new, for one kind of use. */
static void start_anew(Unit *m, int cosimulation)
{
    memset(&m->s, 0, sizeof m->s);
    memcpy(m->s.y, START_STATE, N_S*sizeof(double));
    memcpy(m->s.p, START_PARAMETER, N_GIVEN*sizeof(double));
    memcpy(m->s.w, START_INPUT, N_I*sizeof(double));
@IF ROLLS@
    m->s.speed = @START_SPEED@;
@END@
@IF LOOPS@
    for (int j = 0; j < N_S; j++)
        m->s.given[j] = START_GIVEN[j];
    m->s.job.visit[1] = 1.0;
    m->s.job.staged = @STAGED@;
@END@
@IF DAE@
    @DAE@
@END@
@IF WHEELS@
    for (int i = 0; i < N_WHEELS; i++)
        m->s.modes[i*N_MODES + NORMAL_Z] = 1.0;
@END@
@IF ADAPTIVE@
    m->s.tolerance = TOLERANCE;
@END@
@IF EVENTS@
    memcpy(begin_events(&m->s.watch, STEP_SIZE, HUGE_VAL, HUGE_VAL)->values, START_VALUE, N_VALUES*sizeof(double));
@END@
    m->s.cosimulation = cosimulation;
    m->s.mode = INSTANTIATED;
    forget(m, 1);
}

/* The job with its pointers; inputs go on with their slopes from the beginning of a step of some length. */
static Job *bound_job(Unit *m, double length)
{
    Job *job = &m->s.job;
    m->x.memory = m->s.memory;
    m->x.failed = 0;
    job->p = m->s.p;
    job->c = m->c;
    job->inputs = m->inputs;
    job->externals = &m->x;
    job->y = m->s.y;
    job->k = m->s.k;
    job->old = m->s.old;
    job->bad = m->bad;
    job->rows = m->row;
    job->kept = m->s.kept;
@IF EVENTS@
    job->with_inputs = 1;
@END@
@IF WHEELS@
    job->modes = m->s.modes;
    job->depths = m->s.depths;
@END@
@IF DAE@
    job->frozen = m->s.frozen;
@END@
@IF PROJECTED@
    job->root_q = m->s.root_q;
    job->root_u = m->s.root_u;
    job->past = m->s.past;
    job->bridges = m->s.bridges;
    job->from = m->s.y;
@END@
@IF INPUTS@
    m->ends[0] = job->t;
    m->ends[1] = job->t + length;
    for (int i = 0; i < N_I; i++) {
        Input *in = &m->inputs[i];
        memset(in, 0, sizeof *in);
        memset(m->lines[i], 0, sizeof m->lines[i]);
        in->scale = 1.0;
        in->a[0] = m->lines[i][0] = m->s.w[i];
        in->kind = CONSTANT;
        if (length > 0.0 && (m->s.slope[i] < 0.0 || m->s.slope[i] > 0.0)) {
            in->kind = PIECES;
            in->n = 2;
            in->x = m->ends;
            in->pieces = m->lines[i];
            m->lines[i][1] = m->s.slope[i];
        }
    }
@ELSE@
    (void)length;
@END@
    return job;
}

/* Pointers of a copy lead nowhere. */
static void unbind(State *s)
{
    Job *job = &s->job;
@IF EVENTS@
    Events *e = &s->watch.events;
    e->watched = NULL;
    e->settings = NULL;
    e->steps = NULL;
    e->follows = NULL;
    e->use_values = NULL;
    e->at_zero = NULL;
    e->counted = NULL;
    e->values = e->times = e->room = NULL;
    job->events = NULL;
@END@
    job->p = job->c = NULL;
    job->inputs = NULL;
    job->externals = NULL;
    job->y = job->k = job->old = job->bad = job->rows = job->kept = NULL;
    job->root_q = job->root_u = job->from = NULL;
    job->past = job->bridges = job->modes = job->depths = job->frozen = NULL;
@IF ADAPTIVE@
    job->times = job->breaks = job->atol = job->caps = NULL;
    job->groups = NULL;
    job->work = job->largest = NULL;
    job->n_breaks = 0;
@END@
}

/* ---- values */

static int need_constants(Unit *m)
{
    if (m->has_constants)
        return FINE;
@IF ENTERED@
    Job *job = bound_job(m, 0.0);
    double w[N_W + 1] = {0.0}, entered[N_P - N_GIVEN];
    m->x.live = 1;
    entry(0.0, m->s.y, m->s.y + N_Q, job->p, job->c, w, entered, &m->x);
    memcpy(m->s.p + N_GIVEN, entered, sizeof entered);
@END@
    constants(m->s.p, m->c);
    for (int i = 0; i < N_C; i++)
        if (!isfinite(m->c[i]))
            return complain(m, WRONG, "the constants of the model cannot be computed: may a mass, inertia or length "
                "be zero?");
    m->has_constants = 1;
    return FINE;
}

static int external_failed(Unit *m)
{
    return complain(m, WRONG, "an external routine failed at t = %g s", m->s.job.t);
}

/* Constants and, during the initialization, a state with its loops closed and values that routines keep. */
static int need_start(Unit *m)
{
    int failed = need_constants(m);
    if (failed || m->s.mode != INITIALIZING)
        return failed;
@IF LOOPS@
    if (!m->s.assembled) {
        Job *job = bound_job(m, 0.0);
        double found[N_S + 1];
        const Assembly assembly = find_assembly(job, m->s.y, m->s.given, found);
        if (assembly.open >= 0 && assembly.reverse)
            return complain(m, WRONG, CLOSES_REVERSED, rows_of_loops[assembly.open]);
        if (assembly.open >= 0)
            return complain(m, WRONG, CANNOT_CLOSE, rows_of_loops[assembly.open], assembly.residual);
        for (int j = 0; j < N_S; j++)
            if (m->s.given[j] && fabs(found[j] - m->s.y[j]) > TOLD)
                failed = complain(m, WARNED, "the initial value of %s contradicts the constraints; %.6g is used "
                    "instead of %.6g", STATE_NAME[j], found[j], m->s.y[j]);
        memcpy(m->s.y, found, N_S*sizeof *found);
        forget(m, 0);
        m->s.assembled = 1;
    }
@END@
@IF HOLD@
    if (!m->s.has_rates && !m->s.has_outputs) {
        Job *job = bound_job(m, 0.0);
        double w[N_W + 1];
        m->x.live = 0;
        if (find_kept(job, 1, job->t, m->s.y, w, job->externals, job->kept))
            return external_failed(m);
    }
@END@
    return failed;
}

/* Rates of the state as it stands; constants are known. */
@IF COSIMULATION_ALONE@
static int find_rates(Unit *m, double *k)
{
    Job *job = bound_job(m, 0.0);
    double w[N_W + 1] = {0.0};
    memcpy(w + N_I, m->s.kept, N_KEPT*sizeof *w);
    return rates(job, 0, job->t, m->s.y, k, w) ? external_failed(m) : FINE;
}
@ELSE@
static int find_rates(Unit *m, double *rates)
{
    const Job *job = bound_job(m, 0.0);
    return rates_bound(job, N_KEPT == 0, job->t, m->s.y, rates, NULL) ? external_failed(m) : FINE;
}
@END@

/* The job of the state as it stands, for what changes nothing; w: inputs, then the values that are kept. */
static const Job *held(Unit *m, double *w)
{
    memcpy(w, m->s.w, N_I*sizeof *w);
    memcpy(w + N_I, m->s.kept, N_KEPT*sizeof *w);
    m->x.live = 0;
    return bound_job(m, 0.0);
}

static int find_outputs(Unit *m, double *out)
{
    double w[N_W + 1];
    const Job *job = held(m, w);
@IF WHEELS@
    with_ground(&m->s.job, job->t, m->s.y, w);
@END@
    outputs(job->t, m->s.y, m->s.y + N_Q, job->p, job->c, w, out, &m->x);
    return m->x.failed ? external_failed(m) : FINE;
}

static int need_rates(Unit *m)
{
    int failed;
    if (m->s.has_rates)
        return FINE;
    if ((failed = need_start(m)) > WARNED || (failed = find_rates(m, m->s.rates)))
        return failed;
    for (int j = 0; j < N_S; j++)
        if (!isfinite(m->s.rates[j]))
            return complain(m, DISCARDED, "a rate is not a finite number at t = %g s", m->s.job.t);
    m->s.has_rates = 1;
    return FINE;
}

static int need_outputs(Unit *m)
{
    int failed;
    if (m->s.has_outputs)
        return FINE;
    if ((failed = need_start(m)) > WARNED || (failed = find_outputs(m, m->s.out)))
        return failed;
    m->s.has_outputs = 1;
    return FINE;
}

@IF EVENTS@
/* The value of a condition at a row, in the units of the user. */
static double condition_at(Unit *m, int event, const double *row)
{
    const Events *e = bind_events(&m->s.watch);
    return formula(e, watched[event].first, watched[event].last, row, before_step(e).scratch);
}

/* Time, state, outputs and inputs as they stand. */
static int find_row(Unit *m, double *row)
{
    const int failed = need_outputs(m);
    row[0] = m->s.job.t;
    memcpy(row + 1, m->s.y, N_S*sizeof *row);
    memcpy(row + 1 + N_S, m->s.out, N_OUT*sizeof *row);
    memcpy(row + 1 + N_S + N_OUT, m->s.w, N_I*sizeof *row);
    memcpy(row + 1 + N_S + N_OUT + N_I, m->s.kept, N_KEPT*sizeof *row);
    return failed;
}

@END@
/* Numbers that change their sign where rates may jump, then the conditions of events. */
static int get_indicators(Unit *m, double *x, size_t n)
{
    if (n != N_INDICATORS)
        return complain(m, WRONG, "the unit has %d event indicators, not %lu", (int)N_INDICATORS, (unsigned long)n);
@IF INDICATORS@
    const int failed = need_start(m);
    if (failed > WARNED)
        return failed;
@ELSE@
    (void)x;
@END@
@IF JUMPS@
    double w[N_W + 1];
    const Job *job = held(m, w);
    indicators(job->t, m->s.y, m->s.y + N_Q, job->p, job->c, w, x, &m->x);
    if (m->x.failed)
        return external_failed(m);
@END@
@IF EVENTS@
    double row[WIDTH];
    if (find_row(m, row))
        return WRONG;
    for (int event = 0; event < N_EVENTS; event++)
        x[N_JUMPS + event] = condition_at(m, event, row);
@END@
    return FINE;
}

/* Is a value reference among those from one on to another? There may be none. */
static int among(unsigned r, unsigned first, unsigned end)
{
    return r >= first && r < end;
}

static int get_value(Unit *m, unsigned r, double *value)
{
    int failed = FINE;
    if (r >= R_END)
        return complain(m, WRONG, "there is no variable with the value reference %u", r);
@IF ROLLS@
    if (r >= R_SPEED)
        *value = m->s.speed;
    else
@END@
@IF INDICATORS@
    if (r >= R_INDICATOR) {
        double all[N_INDICATORS];
        if ((failed = get_indicators(m, all, N_INDICATORS)) == FINE)
            *value = all[r - R_INDICATOR];
    } else
@END@
    if (r >= R_OUTPUT) {
        if ((failed = need_outputs(m)) == FINE)
            *value = m->s.out[r - R_OUTPUT];
    } else if (r >= R_INPUT)
        *value = m->s.w[r - R_INPUT];
@IF EVENTS@
    else if (r >= R_PARAMETER + N_GIVEN)
        *value = m->s.watch.values[r - R_PARAMETER]*VALUE_FACTOR[r - R_PARAMETER];
@END@
    else if (r >= R_PARAMETER)
        *value = m->s.p[r - R_PARAMETER];
    else if (r >= R_RATE) {
        if ((failed = need_rates(m)) == FINE)
            *value = m->s.rates[r - R_RATE];
    } else if (r >= R_STATE) {
@IF LOOPS@
        failed = need_start(m) > WARNED ? WRONG : FINE;
@END@
        *value = m->s.y[r - R_STATE];
    } else
        *value = m->s.job.t;
    return failed;
}

static int get_values(Unit *m, const unsigned *r, size_t n, double *values)
{
    int failed = FINE;
    for (size_t i = 0; i < n && !failed; i++)
        failed = get_value(m, r[i], &values[i]);
    return failed;
}

@IF ROLLS@
/* Initial values that follow from a speed; one that was there already leaves them as they are. */
static int set_speed(Unit *m, double value)
{
    if (!(m->s.mode & BEFORE))
        return complain(m, WRONG, "the speed at the start can be set before the start only");
    if (!(value < m->s.speed || value > m->s.speed))
        return FINE;
    m->s.speed = value;
    for (int j = 0; j < N_S; j++) {
        double sum = 0.0;
        int depends = 0;
        for (int k = @POWERS@ - 1; k >= 0; k--) {
            sum = (sum + BY_SPEED[j][k])*value;
            depends |= BY_SPEED[j][k] < 0.0 || BY_SPEED[j][k] > 0.0;
        }
        if (depends)
            @PUT_START@
    }
    return FINE;
}

@END@
static int set_value(Unit *m, unsigned r, double value)
{
    if (!isfinite(value))
        return complain(m, WRONG, "the variable with the value reference %u cannot be set to what is no number", r);
    if (among(r, R_STATE, R_RATE)) {
        put(m, &m->s.y[r - R_STATE], value, 0);
@IF LOOPS@
        if (m->s.mode & BEFORE)
            m->s.given[r - R_STATE] = 1;
@END@
    } else if (among(r, R_PARAMETER, R_INPUT)) {
        if (IS_FIXED[r - R_PARAMETER] && !(m->s.mode & BEFORE))
            return complain(m, WRONG, "the parameter with the value reference %u is fixed: it can be set before the "
                "start only", r);
@IF EVENTS@
        m->s.watch.values[r - R_PARAMETER] = value/VALUE_FACTOR[r - R_PARAMETER];
        if (r >= R_PARAMETER + N_GIVEN)
            return FINE;
@END@
        put(m, &m->s.p[r - R_PARAMETER], value, 1);
    } else if (among(r, R_INPUT, R_OUTPUT)) {
        put(m, &m->s.w[r - R_INPUT], value, 0);
        put(m, &m->s.slope[r - R_INPUT], 0.0, 0);
    }
@IF ROLLS@
    else if (r == R_SPEED)
        return set_speed(m, value);
@END@
    else if (r < R_END)
        return complain(m, WRONG, "the variable with the value reference %u cannot be set: it follows from others", r);
    else
        return complain(m, WRONG, "there is no variable with the value reference %u", r);
    return FINE;
}

static int set_values(Unit *m, const unsigned *r, size_t n, const double *values)
{
    int failed = FINE;
    for (size_t i = 0; i < n && !failed; i++)
        failed = set_value(m, r[i], values[i]);
    return failed;
}

@IF INPUT_SLOPES@
/* The slope of an input over the next steps. */
static int set_slope(Unit *m, unsigned r, int order, double value)
{
    if (!among(r, R_INPUT, R_OUTPUT) || order != 1 || !isfinite(value))
        return complain(m, WRONG, "first derivatives of inputs can be set, by finite numbers");
    put(m, &m->s.slope[r - R_INPUT], value, 0);
    if (RATE_OF[r - R_INPUT] >= 0)
        put(m, &m->s.w[RATE_OF[r - R_INPUT]], value, 0);
    return FINE;
}

@END@
static int wrong_count(Unit *m, size_t n)
{
    return n == N_S ? FINE : complain(m, WRONG, "the model has %d states, not %lu", (int)N_S, (unsigned long)n);
}

static int get_states(Unit *m, double *y, size_t n)
{
    int failed = wrong_count(m, n);
    for (unsigned j = 0; j < N_S && !failed; j++)
        failed = get_value(m, R_STATE + j, &y[j]);
    return failed;
}

static int get_rates(Unit *m, double *k, size_t n)
{
    int failed = wrong_count(m, n);
    for (unsigned j = 0; j < N_S && !failed; j++)
        failed = get_value(m, R_RATE + j, &k[j]);
    return failed;
}

static int get_nominals(Unit *m, double *sizes, size_t n)
{
    const int failed = wrong_count(m, n);
    if (!failed)
        memcpy(sizes, NOMINAL, n*sizeof *sizes);
    return failed;
}

static int set_states(Unit *m, const double *y, size_t n)
{
    if (wrong_count(m, n))
        return WRONG;
    for (size_t j = 0; j < n; j++)
        if (!isfinite(y[j]))
            return complain(m, DISCARDED, "state number %lu is not a finite number", (unsigned long)j + 1);
    for (size_t j = 0; j < n; j++)
        put(m, &m->s.y[j], y[j], 0);
    return FINE;
}

/* The relative tolerance of steps of co-simulation, where a method chooses them. */
static int set_tolerance(Unit *m, double tolerance)
{
@IF ADAPTIVE@
    if (!(tolerance >= FINEST && tolerance < 1.0))
        return complain(m, WRONG, "a tolerance of %g is not one: it lies between %g and 1", tolerance, FINEST);
    m->s.tolerance = tolerance;
@ELSE@
    (void)m;
    (void)tolerance;
@END@
    return FINE;
}

static int set_time(Unit *m, double t)
{
    if (!isfinite(t))
        return complain(m, WRONG, "time must be a finite number");
    put(m, &m->s.job.t, t, 0);
    return FINE;
}

/* ---- slopes */

static int column_of(unsigned r)
{
    if (among(r, R_STATE, R_RATE))
        return (int)(r - R_STATE);
    return among(r, R_INPUT, R_OUTPUT) ? N_S + (int)(r - R_INPUT) : -1;
}

static int row_of(unsigned r)
{
    if (among(r, R_RATE, R_PARAMETER))
        return (int)(r - R_RATE);
    return among(r, R_OUTPUT, R_INDICATOR) ? N_S + (int)(r - R_OUTPUT) : -1;
}

/* Rates, then outputs, of all as it stands. */
static int find_all(Unit *m, double *all)
{
    const int failed = find_rates(m, all);
    return failed ? failed : find_outputs(m, all + N_S);
}

/* Slopes of rates, then outputs, by a number, from central differences. */
static int difference(Unit *m, double *number, double size, int parameter, double *slope)
{
    const double old = *number, by = NUDGED*fmax(fabs(old), size);
    double above[N_S + N_OUT + 1] = {0.0};
    int failed = FINE;
    for (int side = 1; side >= -1 && !failed; side -= 2) {
        *number = old + side*by;
        m->has_constants = m->has_constants && !parameter;
        if (!(failed = need_constants(m)))
            failed = find_all(m, side > 0 ? above : slope);
    }
    *number = old;
    m->has_constants = m->has_constants && !parameter;
    for (int i = 0; i < N_S + N_OUT; i++)
        slope[i] = (above[i] - slope[i])/((old + by) - (old - by));
    return failed ? failed : need_constants(m);
}

/* The slopes that are not zero. */
static int need_slopes(Unit *m)
{
    char column_open[N_S + N_I + 1] = {0};
    double slope[N_S + N_OUT + 1];
    int failed;
    if (m->has_slopes)
        return FINE;
    if ((failed = need_start(m)) > WARNED)
        return failed;
@IF TANGENTS@
    double w[N_W + 1];
    const Job *job = held(m, w);
    tangents(job->t, m->s.y, m->s.y + N_Q, job->p, job->c, w, m->slopes, &m->x);
    if (m->x.failed)
        return external_failed(m);
@END@
    for (int e = 0; e < N_ENTRIES; e++)
        if (e >= N_EXACT || !isfinite(m->slopes[e]))
            column_open[ENTRY[e][1]] = 1;
    for (int j = 0; j < N_S + N_I; j++) {
        if (!column_open[j])
            continue;
        double *number = j < N_S ? &m->s.y[j] : &m->s.w[j - N_S];
        if ((failed = difference(m, number, j < N_S ? NOMINAL[j] : 1.0, 0, slope)))
            return failed;
        for (int e = 0; e < N_ENTRIES; e++)
            if (ENTRY[e][1] == j && (e >= N_EXACT || !isfinite(m->slopes[e])))
                m->slopes[e] = slope[ENTRY[e][0]];
    }
    m->has_slopes = 1;
    return FINE;
}

/* Is a slope by this variable, or of it, one that can be told? */
static int is_known(unsigned r)
{
    return column_of(r) >= 0 || r == R_TIME || among(r, R_PARAMETER, R_INPUT);
}

static int no_slopes(Unit *m)
{
    return complain(m, WRONG, "derivatives are those of rates and outputs by states, inputs, parameters and time");
}

/* Slopes of rates, then outputs, by a parameter or time. */
static int other_column(Unit *m, unsigned r, double *slope)
{
    if (r == R_TIME)
        return difference(m, &m->s.job.t, 1.0, 0, slope);
    if (r >= R_PARAMETER + N_GIVEN) {
        memset(slope, 0, (N_S + N_OUT)*sizeof *slope);
        return FINE;
    }
    return difference(m, &m->s.p[r - R_PARAMETER], 1.0, 1, slope);
}

static int directional(Unit *m, const unsigned *unknown, size_t n, const unsigned *known, size_t n_known,
    const double *seed, double *result)
{
    double by_column[N_S + N_I + 1] = {0.0}, by_row[N_S + N_OUT + 1] = {0.0}, slope[N_S + N_OUT + 1];
    int failed = need_slopes(m);
    for (size_t i = 0; i < n; i++)
        if (row_of(unknown[i]) < 0 && column_of(unknown[i]) < 0)
            return no_slopes(m);
    for (size_t j = 0; j < n_known && !failed; j++) {
        if (!is_known(known[j]))
            return no_slopes(m);
        if (column_of(known[j]) >= 0) {
            by_column[column_of(known[j])] += seed[j];
            continue;
        }
        failed = other_column(m, known[j], slope);
        for (int i = 0; i < N_S + N_OUT; i++)
            by_row[i] += slope[i]*seed[j];
    }
    if (failed)
        return failed;
    for (int e = 0; e < N_ENTRIES; e++)
        by_row[ENTRY[e][0]] += m->slopes[e]*by_column[ENTRY[e][1]];
    for (size_t i = 0; i < n; i++)
        result[i] = row_of(unknown[i]) >= 0 ? by_row[row_of(unknown[i])] : by_column[column_of(unknown[i])];
    return FINE;
}

@IF ADJOINT@
static int adjoint(Unit *m, const unsigned *unknown, size_t n, const unsigned *known, size_t n_known,
    const double *seed, double *result)
{
    double by_column[N_S + N_I + 1] = {0.0}, by_row[N_S + N_OUT + 1] = {0.0}, slope[N_S + N_OUT + 1];
    int failed = need_slopes(m);
    for (size_t i = 0; i < n && !failed; i++) {
        if (row_of(unknown[i]) >= 0)
            by_row[row_of(unknown[i])] += seed[i];
        else if (column_of(unknown[i]) >= 0)
            by_column[column_of(unknown[i])] += seed[i];
        else
            return no_slopes(m);
    }
    if (failed)
        return failed;
    for (int e = 0; e < N_ENTRIES; e++)
        by_column[ENTRY[e][1]] += m->slopes[e]*by_row[ENTRY[e][0]];
    for (size_t j = 0; j < n_known; j++) {
        if (!is_known(known[j]))
            return no_slopes(m);
        result[j] = 0.0;
        if (column_of(known[j]) >= 0)
            result[j] = by_column[column_of(known[j])];
        else if ((failed = other_column(m, known[j], slope)))
            return failed;
        else
            for (int i = 0; i < N_S + N_OUT; i++)
                result[j] += slope[i]*by_row[i];
    }
    return FINE;
}

@END@
/* ---- steps */

static int told(Unit *m, int status)
{
    const Job *job = &m->s.job;
    switch (status) {
    case FINISHED:
        return FINE;
    case NOT_FINITE:
        return complain(m, WRONG, "the state is no longer finite after t = %g s", job->t);
    case STEP_TOO_SMALL:
    case TOO_MANY_STEPS:
        return complain(m, WRONG, "the steps became too small at t = %g s, or too many", job->t);
@IF LOOPS@
    case NOT_CLOSED:
        return complain(m, WRONG, "the loop %s cannot be kept closed at t = %g s: a correction of %.2g was needed",
            rows_of_loops[job->worst], job->t, job->moved);
    case AT_REST:
        return complain(m, WRONG, "the start is singular and at rest: give a speed to choose among its directions");
@END@
    default:
        return external_failed(m);
    }
}

/* The outputs of the row that a run has recorded. */
static void take_outputs(Unit *m)
{
    memcpy(m->s.out, m->row + 1 + N_S, N_OUT*sizeof(double));
    m->s.has_outputs = 1;
}

@IF WHEELS@
static const char *const WHEEL_NAME[] = {@WHEEL_NAMES@};
static const int MUST_BE_ABOVE[] = {@WHEELS_ABOVE@}; /* may a wheel not start below the ground? */

/* Moves wheels that start below the ground up. */
static int raise_from_ground(Unit *m, Job *job)
{
    int failed = told(m, raise_wheels(job));
    for (int i = 0; i < N_WHEELS && failed <= WARNED; i++)
        if (m->s.depths[i] > 0.0)
            failed = complain(m, MUST_BE_ABOVE[i] ? WRONG : WARNED, "%s starts %g below ground%s", WHEEL_NAME[i],
                m->s.depths[i], MUST_BE_ABOVE[i] ? "" : " and is moved up");
    memset(m->s.depths, 0, sizeof m->s.depths);
    return failed;
}

@END@
/* The start of a run: loops are closed, external routines called for the first time. */
static int initialize(Unit *m)
{
    int failed = need_start(m);
    int warned = failed == WARNED ? WARNED : FINE;
    m->s.mode = FAILED;
    if (failed > WARNED)
        return failed;
    Job *job = bound_job(m, 0.0);
@IF PROJECTED@
    find_metric(job, m->s.y, m->s.root_q, m->s.root_u);
@END@
@IF WHEELS@
    if ((failed = raise_from_ground(m, job)) > WARNED)
        return failed;
    warned = failed ? failed : warned;
@END@
    job->method = RK4;
    job->begun = NOT_BEGUN;
    job->h = STEP_SIZE;
    job->first = job->last = job->filled = job->n_breaks = 0;
    job->total = job->every = 1;
    job->t_start = job->t_end = job->t;
    if ((failed = told(m, run(job))))
        return failed;
    forget(m, 0);
    take_outputs(m);
@IF EVENTS@
    for (int event = 0; event < N_EVENTS; event++)
        m->s.watch.g[event] = condition_at(m, event, m->row);
@END@
    m->s.changed = 0;
    job->method = METHOD;
    m->s.mode = m->s.cosimulation ? STEPPING : EVENTS;
    return warned;
}

/* A run goes on from a state that was changed, or with other inputs. */
static void begin_again(Job *job)
{
    job->begun = AGAIN;
@IF LOOPS@
    job->n_past = job->wary = job->near = job->curves = job->portions = 0;
@END@
}

@IF EVENTS@
/* Parameters as an event has set them. Nonzero if the model cannot be computed with them. */
static int use_values(void *job)
{
    Unit *m = (Unit *)job; /* a job is the first of its state, which is the first of its unit */
    const double *v = m->s.watch.values;
    for (int i = 0; i < N_GIVEN; i++)
        if (v[i] < m->s.p[i]/VALUE_FACTOR[i] || v[i] > m->s.p[i]/VALUE_FACTOR[i])
            m->s.p[i] = v[i]*VALUE_FACTOR[i];
    constants(m->s.p, m->c);
    for (int i = 0; i < N_C; i++)
        if (!isfinite(m->c[i]))
            return 1;
    return 0;
}

/* Events of a job. */
static Events *bound_events(Unit *m, Job *job)
{
    Events *e = job->events = bind_events(&m->s.watch);
    e->method = METHOD;
    return e;
}

/* What has ended steps with events. */
static int told_events(Unit *m, int status)
{
    char text[500];
    if (!status && m->s.watch.events.problem) {
        explain_events(&m->s.watch.events, text, sizeof text);
        return complain(m, WRONG, "%s", text);
    }
    return status;
}

@END@
/* Has an event ended the run? */
static int is_stopped(const Unit *m)
{
@IF EVENTS@
    return m->s.watch.events.stopped >= 0;
@ELSE@
    (void)m;
    return 0;
@END@
}

@IF ADAPTIVE@
/* Steps that the method chooses, to the end of the job. */
static int chosen_steps(Unit *m, Job *job)
{
    int status;
    m->times[0] = job->t_start;
    m->times[1] = job->t_end;
    for (int j = 0; j < N_S; j++)
        m->allowed[j] = ABSOLUTE*m->s.tolerance*NOMINAL[j];
    find_caps(job->p, job->y, m->caps);
    memset(m->work, 0, sizeof m->work);
    job->times = m->times;
    job->breaks = m->times + 1;
    job->n_breaks = job->total = job->last = job->every = 1;
    job->h = job->t_end - job->t_start;
    job->rtol = m->s.tolerance;
    job->atol = m->allowed;
    job->groups = UNIT_GROUP;
    job->largest = m->s.largest;
    job->caps = m->caps;
    job->work = m->work;
    job->look = GOES_OVER ? 2 : 0;
    job->steps = job->rejected = 0;
    job->most = job->pause = MOST_STEPS;
@END@
@IF WATCHES_CHOSEN@
    const Events *e = bound_events(m, job);
    status = run_watched(job, 1);
    if (!status && (e->problem || e->stopped >= 0))
        return FINISHED;
@END@
@IF CHOSEN_ALONE@
    status = run(job);
    if (!status && job->reached < job->total && GOES_OVER) {
        memset(m->work, 0, sizeof m->work);
        job->method = RADAU5;
        begin_again(job);
        job->first = job->reached;
        status = run(job);
    }
@END@
@IF ADAPTIVE@
    return status || job->reached == job->total ? status : TOO_MANY_STEPS;
}

@END@
/* From the present time on by some length, in equal steps that are not longer than those of the model, or in steps that
   its method chooses. */
static int do_step(Unit *m, double t, double length)
{
    int failed;
    const double from = m->s.job.t;
    if (!(fabs(t - from) <= AT_POINT*fmax(length, fmax(fabs(t), STEP_SIZE))))
        return complain(m, WRONG, "a step was asked for from t = %g s, but the unit is at t = %g s", t, from);
    if (!(length > 0.0) || !isfinite(length))
        return complain(m, WRONG, "the length of a step is %g s; it must be positive", length);
@IF ADAPTIVE@
@ELSE@
    const double count = ceil(length/STEP_SIZE*(1.0 - AT_END));
    if (count > 1e12)
        return complain(m, WRONG, "%g s are too long for steps of %g s", length, STEP_SIZE);
@END@
    if ((failed = need_constants(m)))
        return failed;
@IF EVENTS@
    if (is_stopped(m))
        return complain(m, WRONG, "the run was stopped by event '%.100s' at t = %.6g s",
            event_names[m->s.watch.events.stopped], m->s.watch.events.when);
@END@
    m->s.job.t = t;
    Job *job = bound_job(m, length);
    job->first = job->filled = 0;
    job->t_start = t;
    job->t_end = t + length;
    if (m->s.changed)
        begin_again(job);
    m->s.mode = FAILED;
@IF ADAPTIVE@
    failed = told(m, chosen_steps(m, job));
@ELSE@
    job->total = job->last = job->every = count > 1.0 ? (int64_t)count : 1;
    job->h = length/(double)job->total;
@END@
@IF WATCHES_FIXED@
    bound_events(m, job);
    failed = told(m, run_watched(job, 1));
@END@
@IF FIXED_ALONE@
    failed = told(m, run(job));
@END@
@IF EVENTS@
    failed = told_events(m, failed);
@END@
    if (failed)
        return failed;
    m->s.mode = STEPPING;
    for (int i = 0; i < N_I; i++)
        m->s.w[i] += m->s.slope[i]*(is_stopped(m) ? job->t - t : length);
    forget(m, 0);
    take_outputs(m);
    m->s.changed = 0;
    for (int i = 0; i < N_I; i++) /* lines end, or go on from other values */
        m->s.changed = m->s.changed || m->s.slope[i] < 0.0 || m->s.slope[i] > 0.0;
    return FINE;
}

/* ---- model exchange */

@IF PROJECTED@
/* By how much loops are open: the largest residual of positions. */
static double open_by(Unit *m)
{
    double all[N_G*(1 + N_Q) + N_V*(1 + N_U) + 1], w[N_W + 1];
    const Job *job = held(m, w);
    closure(job->t, m->s.y, m->s.y + N_Q, job->p, job->c, w, all, &m->x);
    return fmax(largest(N_G, all), largest(N_V, all + N_G*(1 + N_Q))/fmax(1.0, largest(N_U, m->s.y + N_Q)));
}

@END@
@IF EVENTS@
/* The events whose conditions have come over zero since something was last done: whoever integrates ends a step at zero
   but for rounding, on either side of it. What has not come over is noted. Returns how many there are. */
static int find_fired(Unit *m, const double *row, Crossing *fired)
{
    Job *job = &m->s.job;
    Events *e = bound_events(m, job);
    double *scratch = before_step(e).scratch;
    int count = 0;
    for (int event = 0; event < N_EVENTS; event++) {
        AtZero *zero = &e->at_zero[event];
        const double before = m->s.watch.g[event], g = condition_at(m, event, row);
        const double size = fmax(zero->waits ? zero->size : fabs(before), fabs(g));
        const int is_zero = event_is_zero(job, e, scratch, event, row, size);
        const double noise = 4*event_noise(job, e, scratch, event, row); /* what is at zero does not come there */
        int came = 0;
        for (int side = 1; side >= -1 && !zero->waits; side -= 2) {
            const double beyond = is_zero && side*g <= 0.0 && side*before < -noise ? side*DBL_MIN : g;
            if (comes_over(&watched[event], side, before, beyond)) {
                put_crossing(fired, &count, row[0], size, event, side);
                came = 1;
            }
        }
        if (zero->waits)
            zero->waits = is_zero;
        if (!came)
            m->s.watch.g[event] = g;
    }
    return count;
}

/* Event mode: lets events act. Did the state change? */
static int let_events_act(Unit *m, int *moved)
{
    Crossing fired[MOST_AT_ONCE*N_EVENTS];
    double row[WIDTH];
    int failed = find_row(m, row), acts = 0, stops = -1;
    if (failed)
        return failed;
    Job *job = bound_job(m, 0.0);
    Events *e = bound_events(m, job);
    const int count = find_fired(m, row, fired);
    for (int i = 0; i < count; i++) {
        acts = acts || watched[fired[i].event].acts;
        stops = stops < 0 && watched[fired[i].event].stops ? fired[i].event : stops;
    }
    if (acts) {
        stops = events_act(job, e, before_step(e).scratch, fired, count, stops, job->t, row, m->s.y);
        *moved = 1;
        forget(m, 0);
    }
    for (int event = 0; event < N_EVENTS; event++)
        m->s.watch.g[event] = condition_at(m, event, row);
@END@
@IF EVENT_LOOPS@
    if (e->reset)
        find_metric(job, m->s.y, m->s.root_q, m->s.root_u);
@END@
@IF EVENTS@
    e->reset = 0;
    e->when = job->t;
    e->stopped = e->problem ? -1 : stops;
    return told_events(m, FINE);
}

@END@
/* Event mode: loops that the steps of others have opened are closed, and events act. Did the state change? */
static int find_new_states(Unit *m, int *moved)
{
    int failed = need_constants(m);
    *moved = 0;
@IF EVENTS@
    failed = failed ? failed : let_events_act(m, moved);
@END@
@IF PROJECTED@
    double w[N_W + 1];
    if (failed || !(open_by(m) > DRIFT))
        return failed;
    Job *job = bound_job(m, 0.0);
    memcpy(w + N_I, m->s.kept, N_KEPT*sizeof *w);
    const int status = project(job, job->t, m->s.y, w, CLOSED);
    if (status || !(job->residual < OPEN))
        return status ? told(m, status) : told(m, NOT_CLOSED);
    *moved = 1;
    forget(m, 0);
@END@
    return failed;
}

/* The end of a step of whoever integrates: routines remember. Are loops to be closed? */
static int complete_step(Unit *m, int *event)
{
    int failed = need_constants(m);
    *event = 0;
    if (failed)
        return failed;
@IF REMEMBERS@
    Job *job = bound_job(m, 0.0);
    double w[N_W + 1];
    memcpy(w + N_I, m->s.kept, N_KEPT*sizeof *w);
    m->s.has_rates = m->s.has_outputs = 0;
@END@
@IF UPDATE@
    if ((failed = told(m, keep_values(job, 0, job->t, m->s.y, w))))
        return failed;
@END@
@IF REMEMBERS@
    if ((failed = told(m, rates(job, 1, job->t, m->s.y, m->s.rates, w))))
        return failed;
    job->filled = 0;
    if ((failed = told(m, record(job, 2, job->t, m->s.y, w))))
        return failed;
    take_outputs(m);
    m->s.has_rates = 1;
@END@
@IF PROJECTED@
    *event = open_by(m) > DRIFT;
@END@
@IF EVENTS@
    Crossing fired[MOST_AT_ONCE*N_EVENTS];
    double row[WIDTH];
    if ((failed = find_row(m, row)))
        return failed;
    *event |= find_fired(m, row, fired) > 0;
@END@
    return FINE;
}

/* ---- states of a unit */

/* What is copied into bytes: behind the token of the model, with a sum that tells bytes that were changed. */
static const char WHOLE_TOKEN[(sizeof TOKEN + 7)/8*8] = TOKEN; /* without a gap behind it */

typedef struct Packed {
    char token[sizeof WHOLE_TOKEN];
    uint64_t sum;
    State state;
} Packed;

static uint64_t sum_of(const void *bytes, size_t n)
{
    uint64_t sum = 14695981039346656037u;
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ ((const unsigned char *)bytes)[i])*1099511628211u;
    return sum;
}

static int room_for_state(Unit *m, void **place)
{
    if (*place == NULL && (*place = malloc(sizeof(State))) == NULL)
        return complain(m, WRONG, "there is no memory for another state");
    return FINE;
}

static int copy_state(Unit *m, void **place)
{
    const int failed = room_for_state(m, place);
    if (failed)
        return failed;
    memcpy(*place, &m->s, sizeof(State));
    unbind(*place);
    return FINE;
}

static int restore_state(Unit *m, const void *from)
{
    if (from == NULL || ((const State *)from)->cosimulation != m->s.cosimulation)
        return complain(m, WRONG, "this is not a state of such a unit");
    memcpy(&m->s, from, sizeof(State));
    m->has_constants = m->has_slopes = 0;
    return FINE;
}

static int serialize(Unit *m, const void *from, void *bytes, size_t size)
{
    if (from == NULL || size < sizeof(Packed))
        return complain(m, WRONG, "a state takes %lu bytes, not %lu", (unsigned long)sizeof(Packed),
            (unsigned long)size);
    const uint64_t sum = sum_of(from, sizeof(State));
    memset(bytes, 0, sizeof(Packed));
    memcpy(bytes, WHOLE_TOKEN, sizeof WHOLE_TOKEN);
    memcpy((char *)bytes + offsetof(Packed, sum), &sum, sizeof sum);
    memcpy((char *)bytes + offsetof(Packed, state), from, sizeof(State));
    return FINE;
}

static int deserialize(Unit *m, const void *bytes, size_t size, void **place)
{
    uint64_t sum = 0;
    const char *state = (const char *)bytes + offsetof(Packed, state);
    if (size == sizeof(Packed))
        memcpy(&sum, (const char *)bytes + offsetof(Packed, sum), sizeof sum);
    if (size != sizeof(Packed) || memcmp(bytes, WHOLE_TOKEN, sizeof WHOLE_TOKEN) != 0
        || sum != sum_of(state, sizeof(State)))
        return complain(m, WRONG, "these bytes are not a state of this model");
    const int failed = room_for_state(m, place);
    if (failed)
        return failed;
    memcpy(*place, state, sizeof(State));
    return FINE;
}
