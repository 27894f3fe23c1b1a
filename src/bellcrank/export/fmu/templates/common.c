/* Functions that FMI 2 and 3 share but for names. Before it: FMI(name), Instance and result(). */

#define IN(modes) \
    Instance *i = c; \
    Unit *m = &i->m; \
    if (out_of_place(m, __func__, modes)) \
        return result(i, WRONG)

const char *FMI(GetVersion)(void)
{
    return FMI(Version);
}

FMI(Status) FMI(SetDebugLogging)(FMI(Instance) c, FMI(Boolean) on, size_t n, const FMI(String) categories[])
{
    (void)n;
    (void)categories;
    ((Instance *)c)->logging = on;
    return FMI(OK);
}

void FMI(FreeInstance)(FMI(Instance) c)
{
    free(c);
}

FMI(Status) FMI(ExitInitializationMode)(FMI(Instance) c)
{
    IN(INITIALIZING);
    return result(i, initialize(m));
}

FMI(Status) FMI(EnterEventMode)(FMI(Instance) c)
{
    IN(EVENTS | CONTINUOUS);
    m->s.mode = EVENTS;
    return FMI(OK);
}

FMI(Status) FMI(Terminate)(FMI(Instance) c)
{
    IN(RUNNING);
    m->s.mode = TERMINATED;
    return FMI(OK);
}

FMI(Status) FMI(Reset)(FMI(Instance) c)
{
    IN(ANYTHING);
    start_anew(m, m->s.cosimulation);
    return FMI(OK);
}

/* ---- states of a unit */

FMI(Status) FMI(GetFMUState)(FMI(Instance) c, FMI(FMUState) *state)
{
    IN(ANYTHING);
    return result(i, copy_state(m, state));
}

FMI(Status) FMI(SetFMUState)(FMI(Instance) c, FMI(FMUState) state)
{
    IN(ANYTHING);
    return result(i, restore_state(m, state));
}

FMI(Status) FMI(FreeFMUState)(FMI(Instance) c, FMI(FMUState) *state)
{
    (void)c;
    if (state != NULL) {
        free(*state);
        *state = NULL;
    }
    return FMI(OK);
}

FMI(Status) FMI(SerializedFMUStateSize)(FMI(Instance) c, FMI(FMUState) state, size_t *size)
{
    IN(ANYTHING);
    (void)state;
    *size = sizeof(Packed);
    return FMI(OK);
}

FMI(Status) FMI(SerializeFMUState)(FMI(Instance) c, FMI(FMUState) state, FMI(Byte) bytes[], size_t size)
{
    IN(ANYTHING);
    return result(i, serialize(m, state, bytes, size));
}

FMI(Status) FMI(DeserializeFMUState)(FMI(Instance) c, const FMI(Byte) bytes[], size_t size, FMI(FMUState) *state)
{
    IN(ANYTHING);
    return result(i, deserialize(m, bytes, size, state));
}

/* ---- model exchange */

FMI(Status) FMI(EnterContinuousTimeMode)(FMI(Instance) c)
{
    IN(EVENTS);
    m->s.mode = CONTINUOUS;
    return FMI(OK);
}

FMI(Status) FMI(CompletedIntegratorStep)(FMI(Instance) c, FMI(Boolean) stays, FMI(Boolean) *event, FMI(Boolean) *end)
{
    IN(CONTINUOUS);
    int open = 0;
    (void)stays;
    const int how = complete_step(m, &open);
    *event = open != 0;
    *end = FMI(False);
    return result(i, how);
}

FMI(Status) FMI(SetTime)(FMI(Instance) c, FMI(Float64) t)
{
    IN(EVENTS | CONTINUOUS);
    return result(i, set_time(m, t));
}

FMI(Status) FMI(SetContinuousStates)(FMI(Instance) c, const FMI(Float64) x[], size_t n)
{
    IN(CONTINUOUS);
    return result(i, set_states(m, x, n));
}

FMI(Status) FMI(GetContinuousStates)(FMI(Instance) c, FMI(Float64) x[], size_t n)
{
    IN(INITIALIZING | RUNNING | TERMINATED);
    return result(i, get_states(m, x, n));
}

FMI(Status) FMI(GetContinuousStateDerivatives)(FMI(Instance) c, FMI(Float64) x[], size_t n)
{
    IN(INITIALIZING | RUNNING | TERMINATED);
    return result(i, get_rates(m, x, n));
}

FMI(Status) FMI(GetNominalsOfContinuousStates)(FMI(Instance) c, FMI(Float64) x[], size_t n)
{
    IN(ANYTHING);
    return result(i, get_nominals(m, x, n));
}

FMI(Status) FMI(GetEventIndicators)(FMI(Instance) c, FMI(Float64) x[], size_t n)
{
    IN(INITIALIZING | RUNNING | TERMINATED);
    return result(i, get_indicators(m, x, n));
}
