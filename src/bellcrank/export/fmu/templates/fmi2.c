/* FMI 2.0: model exchange and co-simulation in one. */

#include "fmi2Functions.h"

#include "core.c"

typedef struct Instance {
    Unit m;
    fmi2CallbackFunctions callbacks;
    int logging;
    char name[256];
} Instance;

/* Hands a finished text to a logger. It is the format itself, since some importers print that alone; a percent sign is
   written twice, as formats have it. */
static void log_text(const fmi2CallbackFunctions *to, const char *name, fmi2Status status, const char *category,
    const char *text)
{
    char format[2*sizeof ((Unit *)0)->said];
    size_t n = 0;
    for (; *text != '\0' && n < sizeof format - 2; text++) {
        if (*text == '%')
            format[n++] = '%';
        format[n++] = *text;
    }
    format[n] = '\0';
    to->logger(to->componentEnvironment, name, status, category, format);
}

static void tell(const Instance *i, fmi2Status status)
{
    if (i->callbacks.logger != NULL && (i->logging || status >= fmi2Error))
        log_text(&i->callbacks, i->name, status,
            status == fmi2Warning ? "logStatusWarning" : status == fmi2Discard ? "logStatusDiscard" : "logStatusError",
            i->m.said);
}

/* What a call came to, told where it is more than fine. */
static fmi2Status result(Instance *i, int how)
{
    static const fmi2Status statuses[] = {fmi2OK, fmi2Warning, fmi2Discard, fmi2Error};
    if (how != FINE)
        tell(i, statuses[how]);
    return statuses[how];
}

/* What FMI 3 calls otherwise */
typedef fmi2Component fmi2Instance;
typedef fmi2Real fmi2Float64;
typedef fmi2FMUstate fmi2FMUState;
#define fmi2GetFMUState fmi2GetFMUstate
#define fmi2SetFMUState fmi2SetFMUstate
#define fmi2FreeFMUState fmi2FreeFMUstate
#define fmi2SerializedFMUStateSize fmi2SerializedFMUstateSize
#define fmi2SerializeFMUState fmi2SerializeFMUstate
#define fmi2DeserializeFMUState fmi2DeSerializeFMUstate
#define fmi2GetContinuousStateDerivatives fmi2GetDerivatives

#define FMI(name) fmi2##name
#include "common.c"

const char *fmi2GetTypesPlatform(void)
{
    return fmi2TypesPlatform;
}

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String token, fmi2String resources,
    const fmi2CallbackFunctions *callbacks, fmi2Boolean visible, fmi2Boolean logging)
{
    (void)resources;
    (void)visible;
    if (token == NULL || strcmp(token, TOKEN) != 0) {
        if (callbacks != NULL && callbacks->logger != NULL) {
            char text[512];
            snprintf(text, sizeof text, "the GUID %.200s is not that of this model, %s", token == NULL ? "" : token,
                TOKEN);
            log_text(callbacks, name, fmi2Error, "logStatusError", text);
        }
        return NULL;
    }
    Instance *i = COSIMULATION_ALONE && type != fmi2CoSimulation ? NULL : calloc(1, sizeof *i);
    if (i == NULL)
        return NULL;
    start_anew(&i->m, type == fmi2CoSimulation);
    if (callbacks != NULL)
        i->callbacks = *callbacks;
    i->logging = logging;
    snprintf(i->name, sizeof i->name, "%s", name == NULL ? "" : name);
    return i;
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean with_tolerance, fmi2Real tolerance, fmi2Real start,
    fmi2Boolean with_end, fmi2Real end)
{
    IN(INSTANTIATED);
    (void)with_end;
    (void)end;
    const int how = with_tolerance ? set_tolerance(m, tolerance) : FINE;
    return result(i, how ? how : set_time(m, start));
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
    IN(INSTANTIATED);
    m->s.mode = INITIALIZING;
    return fmi2OK;
}

/* ---- values */

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference r[], size_t n, fmi2Real values[])
{
    IN(ANYTHING & ~INSTANTIATED);
    return result(i, get_values(m, r, n, values));
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference r[], size_t n, const fmi2Real values[])
{
    IN(BEFORE | RUNNING);
    return result(i, set_values(m, r, n, values));
}

static fmi2Status only_real(fmi2Component c, size_t n)
{
    Instance *i = c;
    return n == 0 ? fmi2OK : result(i, complain(&i->m, WRONG, "all variables of this model are Real"));
}

#define NONE(Type, type) \
    fmi2Status fmi2Get##Type(fmi2Component c, const fmi2ValueReference r[], size_t n, type values[]) \
    { \
        (void)r; \
        (void)values; \
        return only_real(c, n); \
    } \
    fmi2Status fmi2Set##Type(fmi2Component c, const fmi2ValueReference r[], size_t n, const type values[]) \
    { \
        (void)r; \
        (void)values; \
        return only_real(c, n); \
    }

NONE(Integer, fmi2Integer)
NONE(Boolean, fmi2Boolean)
NONE(String, fmi2String)

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknown[], size_t n,
    const fmi2ValueReference known[], size_t n_known, const fmi2Real seed[], fmi2Real values[])
{
    IN(INITIALIZING | RUNNING | TERMINATED);
    return result(i, directional(m, unknown, n, known, n_known, seed, values));
}

/* ---- model exchange */

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info)
{
    IN(EVENTS);
    int moved = 0;
    const int how = find_new_states(m, &moved);
    memset(info, 0, sizeof *info);
    info->valuesOfContinuousStatesChanged = moved;
    info->terminateSimulation = is_stopped(m);
    return result(i, how);
}

/* ---- co-simulation */

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference r[], size_t n,
    const fmi2Integer order[], const fmi2Real values[])
{
    IN(BEFORE | STEPPING);
    int how = FINE;
    for (size_t k = 0; k < n && !how; k++)
        how = set_slope(m, r[k], order[k], values[k]);
    return result(i, how);
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference r[], size_t n,
    const fmi2Integer order[], fmi2Real values[])
{
    IN(STEPPING | TERMINATED);
    (void)r;
    (void)order;
    (void)values;
    return n == 0 ? fmi2OK : result(i, complain(m, WRONG, "derivatives of outputs are not known"));
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real length, fmi2Boolean stays)
{
    IN(STEPPING);
    (void)stays;
    const int how = do_step(m, t, length);
    return result(i, how == FINE && is_stopped(m) ? complain(m, DISCARDED, "an event has ended the run") : how);
}

fmi2Status fmi2CancelStep(fmi2Component c)
{
    IN(0);
    return fmi2Error;
}

#define STATUS(Name, type) \
    fmi2Status fmi2Get##Name(fmi2Component c, const fmi2StatusKind kind, type *value) \
    { \
        IN(ANYTHING); \
        (void)kind; \
        (void)value; \
        return result(i, complain(m, DISCARDED, "steps are over when fmi2DoStep returns")); \
    }

STATUS(Status, fmi2Status)
STATUS(IntegerStatus, fmi2Integer)
STATUS(StringStatus, fmi2String)

fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value)
{
    IN(ANYTHING);
    if (kind != fmi2Terminated)
        return result(i, complain(m, DISCARDED, "steps are over when fmi2DoStep returns"));
    *value = is_stopped(m);
    return fmi2OK;
}

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value)
{
    IN(ANYTHING);
    if (kind != fmi2LastSuccessfulTime)
        return result(i, complain(m, DISCARDED, "steps are over when fmi2DoStep returns"));
    *value = m->s.job.t;
    return fmi2OK;
}
