/* FMI 3.0: model exchange and co-simulation in one. */

#include "fmi3Functions.h"

#include "core.c"

typedef struct Instance {
    Unit m;
    fmi3LogMessageCallback log;
    fmi3InstanceEnvironment environment;
    int logging, early; /* may steps return early? */
} Instance;

/* What a call came to, told where it is more than fine. */
static fmi3Status result(Instance *i, int how)
{
    static const fmi3Status statuses[] = {fmi3OK, fmi3Warning, fmi3Discard, fmi3Error};
    static const char *const categories[] = {"", "logStatusWarning", "logStatusDiscard", "logStatusError"};
    if (how != FINE && i->log != NULL && (i->logging || how == WRONG))
        i->log(i->environment, statuses[how], categories[how], i->m.said);
    return statuses[how];
}

#define FMI(name) fmi3##name
#include "common.c"

#define REFERENCES const fmi3ValueReference r[], size_t n

static fmi3Instance new_instance(fmi3String token, fmi3Boolean logging, fmi3InstanceEnvironment environment,
    fmi3LogMessageCallback log, int cosimulation)
{
    if (token == NULL || strcmp(token, TOKEN) != 0) {
        if (log != NULL)
            log(environment, fmi3Error, "logStatusError", "the instantiation token is not that of this model, " TOKEN);
        return NULL;
    }
    Instance *i = COSIMULATION_ALONE && !cosimulation ? NULL : calloc(1, sizeof *i);
    if (i == NULL)
        return NULL;
    start_anew(&i->m, cosimulation);
    i->log = log;
    i->environment = environment;
    i->logging = logging;
    return i;
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
    fmi3Boolean logging, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log)
{
    (void)name, (void)resources, (void)visible;
    return new_instance(token, logging, environment, log, 0);
}

fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
    fmi3Boolean logging, fmi3Boolean with_events, fmi3Boolean early, REFERENCES, fmi3InstanceEnvironment environment,
    fmi3LogMessageCallback log, fmi3IntermediateUpdateCallback update)
{
    (void)name, (void)resources, (void)visible, (void)with_events, (void)r, (void)n, (void)update;
    Instance *i = new_instance(token, logging, environment, log, 1);
    if (i != NULL)
        i->early = early;
    return i;
}

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token, fmi3String resources,
    fmi3Boolean visible, fmi3Boolean logging, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
    fmi3ClockUpdateCallback update, fmi3LockPreemptionCallback lock, fmi3UnlockPreemptionCallback unlock)
{
    (void)name, (void)token, (void)resources, (void)visible, (void)logging, (void)update, (void)lock, (void)unlock;
    if (log != NULL)
        log(environment, fmi3Error, "logStatusError", "this unit is for model exchange and co-simulation");
    return NULL;
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean with_tolerance, fmi3Float64 tolerance,
    fmi3Float64 start, fmi3Boolean with_end, fmi3Float64 end)
{
    IN(INSTANTIATED);
    (void)with_end, (void)end;
    int how = with_tolerance ? set_tolerance(m, tolerance) : FINE;
    how = how ? how : set_time(m, start);
    if (how == FINE)
        m->s.mode = INITIALIZING;
    return result(i, how);
}

/* ---- values */

static int counts_differ(Unit *m, size_t n, size_t values)
{
    return n == values ? FINE : complain(m, WRONG, "%lu variables have as many values, not %lu", (unsigned long)n,
        (unsigned long)values);
}

fmi3Status fmi3GetFloat64(fmi3Instance c, REFERENCES, fmi3Float64 values[], size_t n_values)
{
    IN(ANYTHING & ~INSTANTIATED);
    const int how = counts_differ(m, n, n_values);
    return result(i, how ? how : get_values(m, r, n, values));
}

fmi3Status fmi3SetFloat64(fmi3Instance c, REFERENCES, const fmi3Float64 values[], size_t n_values)
{
    IN(BEFORE | RUNNING);
    const int how = counts_differ(m, n, n_values);
    return result(i, how ? how : set_values(m, r, n, values));
}

static fmi3Status only_float64(fmi3Instance c, size_t n)
{
    Instance *i = c;
    return n == 0 ? fmi3OK : result(i, complain(&i->m, WRONG, "all variables of this model are Float64"));
}

#define NONE(Type) \
    fmi3Status fmi3Get##Type(fmi3Instance c, REFERENCES, fmi3##Type values[], size_t n_values) \
    { \
        (void)r; \
        (void)values; \
        (void)n_values; \
        return only_float64(c, n); \
    } \
    fmi3Status fmi3Set##Type(fmi3Instance c, REFERENCES, const fmi3##Type values[], size_t n_values) \
    { \
        (void)r; \
        (void)values; \
        (void)n_values; \
        return only_float64(c, n); \
    }

NONE(Float32)
NONE(Int8)
NONE(UInt8)
NONE(Int16)
NONE(UInt16)
NONE(Int32)
NONE(UInt32)
NONE(Int64)
NONE(UInt64)
NONE(Boolean)
NONE(String)

fmi3Status fmi3GetBinary(fmi3Instance c, REFERENCES, size_t sizes[], fmi3Binary values[], size_t n_values)
{
    (void)r, (void)sizes, (void)values, (void)n_values;
    return only_float64(c, n);
}

fmi3Status fmi3SetBinary(fmi3Instance c, REFERENCES, const size_t sizes[], const fmi3Binary values[], size_t n_values)
{
    (void)r, (void)sizes, (void)values, (void)n_values;
    return only_float64(c, n);
}

fmi3Status fmi3GetClock(fmi3Instance c, REFERENCES, fmi3Clock values[])
{
    (void)r, (void)values;
    return only_float64(c, n);
}

fmi3Status fmi3SetClock(fmi3Instance c, REFERENCES, const fmi3Clock values[])
{
    (void)r, (void)values;
    return only_float64(c, n);
}

static fmi3Status not_here(fmi3Instance c, const char *call)
{
    Instance *i = c;
    return result(i, complain(&i->m, WRONG, "%s: this unit has no arrays, clocks or output derivatives", call));
}

fmi3Status fmi3GetNumberOfVariableDependencies(fmi3Instance c, fmi3ValueReference r, size_t *n)
{
    (void)r, (void)n;
    return not_here(c, __func__);
}

fmi3Status fmi3GetVariableDependencies(fmi3Instance c, fmi3ValueReference r, size_t elements[],
    fmi3ValueReference independents[], size_t others[], fmi3DependencyKind kinds[], size_t n)
{
    (void)r, (void)elements, (void)independents, (void)others, (void)kinds, (void)n;
    return not_here(c, __func__);
}

fmi3Status fmi3GetDirectionalDerivative(fmi3Instance c, const fmi3ValueReference unknown[], size_t n,
    const fmi3ValueReference known[], size_t n_known, const fmi3Float64 seed[], size_t n_seed, fmi3Float64 values[],
    size_t n_values)
{
    IN(INITIALIZING | RUNNING | TERMINATED);
    int how = counts_differ(m, n, n_values);
    how = how ? how : counts_differ(m, n_known, n_seed);
    return result(i, how ? how : directional(m, unknown, n, known, n_known, seed, values));
}

fmi3Status fmi3GetAdjointDerivative(fmi3Instance c, const fmi3ValueReference unknown[], size_t n,
    const fmi3ValueReference known[], size_t n_known, const fmi3Float64 seed[], size_t n_seed, fmi3Float64 values[],
    size_t n_values)
{
    IN(INITIALIZING | RUNNING | TERMINATED);
    int how = counts_differ(m, n, n_seed);
    how = how ? how : counts_differ(m, n_known, n_values);
    return result(i, how ? how : adjoint(m, unknown, n, known, n_known, seed, values));
}

/* ---- configuration and clocks, of which there are none */

fmi3Status fmi3EnterConfigurationMode(fmi3Instance c)
{
    return not_here(c, __func__);
}

fmi3Status fmi3ExitConfigurationMode(fmi3Instance c)
{
    return not_here(c, __func__);
}

fmi3Status fmi3GetIntervalDecimal(fmi3Instance c, REFERENCES, fmi3Float64 intervals[], fmi3IntervalQualifier kinds[])
{
    (void)r, (void)n, (void)intervals, (void)kinds;
    return not_here(c, __func__);
}

fmi3Status fmi3GetIntervalFraction(fmi3Instance c, REFERENCES, fmi3UInt64 counters[], fmi3UInt64 resolutions[],
    fmi3IntervalQualifier kinds[])
{
    (void)r, (void)n, (void)counters, (void)resolutions, (void)kinds;
    return not_here(c, __func__);
}

fmi3Status fmi3GetShiftDecimal(fmi3Instance c, REFERENCES, fmi3Float64 shifts[])
{
    (void)r, (void)n, (void)shifts;
    return not_here(c, __func__);
}

fmi3Status fmi3GetShiftFraction(fmi3Instance c, REFERENCES, fmi3UInt64 counters[], fmi3UInt64 resolutions[])
{
    (void)r, (void)n, (void)counters, (void)resolutions;
    return not_here(c, __func__);
}

fmi3Status fmi3SetIntervalDecimal(fmi3Instance c, REFERENCES, const fmi3Float64 intervals[])
{
    (void)r, (void)n, (void)intervals;
    return not_here(c, __func__);
}

fmi3Status fmi3SetIntervalFraction(fmi3Instance c, REFERENCES, const fmi3UInt64 counters[],
    const fmi3UInt64 resolutions[])
{
    (void)r, (void)n, (void)counters, (void)resolutions;
    return not_here(c, __func__);
}

fmi3Status fmi3SetShiftDecimal(fmi3Instance c, REFERENCES, const fmi3Float64 shifts[])
{
    (void)r, (void)n, (void)shifts;
    return not_here(c, __func__);
}

fmi3Status fmi3SetShiftFraction(fmi3Instance c, REFERENCES, const fmi3UInt64 counters[], const fmi3UInt64 resolutions[])
{
    (void)r, (void)n, (void)counters, (void)resolutions;
    return not_here(c, __func__);
}

fmi3Status fmi3ActivateModelPartition(fmi3Instance c, fmi3ValueReference r, fmi3Float64 t)
{
    (void)r, (void)t;
    return not_here(c, __func__);
}

fmi3Status fmi3EvaluateDiscreteStates(fmi3Instance c)
{
    IN(INITIALIZING | EVENTS);
    return fmi3OK;
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, fmi3Boolean *again, fmi3Boolean *end, fmi3Boolean *nominals,
    fmi3Boolean *values, fmi3Boolean *with_next, fmi3Float64 *next)
{
    IN(EVENTS);
    int moved = 0;
    const int how = find_new_states(m, &moved);
    *again = *nominals = *with_next = fmi3False;
    *end = is_stopped(m) != 0;
    *values = moved != 0;
    *next = 0.0;
    return result(i, how);
}

/* ---- model exchange */

fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance c, size_t *n)
{
    IN(ANYTHING);
    *n = N_INDICATORS;
    return fmi3OK;
}

fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance c, size_t *n)
{
    IN(ANYTHING);
    *n = N_S;
    return fmi3OK;
}

/* ---- co-simulation */

fmi3Status fmi3EnterStepMode(fmi3Instance c)
{
    IN(STEPPING);
    return fmi3OK;
}

fmi3Status fmi3GetOutputDerivatives(fmi3Instance c, REFERENCES, const fmi3Int32 orders[], fmi3Float64 values[],
    size_t n_values)
{
    (void)r, (void)n, (void)orders, (void)values, (void)n_values;
    return not_here(c, __func__);
}

fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 t, fmi3Float64 length, fmi3Boolean stays, fmi3Boolean *event,
    fmi3Boolean *end, fmi3Boolean *early, fmi3Float64 *reached)
{
    IN(STEPPING);
    (void)stays;
    const int how = do_step(m, t, length);
    *event = fmi3False;
    *end = is_stopped(m) != 0;
    *early = is_stopped(m) && i->early;
    *reached = m->s.job.t;
    return result(i, how);
}
