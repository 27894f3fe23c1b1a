/* Random sequences of calls to a unit, legal and not: each must be answered as the standard asks, and the sanitizers must
   have nothing to say. Compiled with VERSION=2 or 3, beside the sources of the unit. Arguments: sequences, seed, and in
   how many threads at once. */

#include <pthread.h>

#if VERSION == 2
#include "fmi2.c"
#else
#include "fmi3.c"
#endif

enum { LEGAL, ILLEGAL };
enum { MOST_CALLS = 60, MOST_VALUES = 8, MOST_STATES = 3 };

static __thread uint64_t seed;

static uint64_t chance(uint64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % n;
}

#if VERSION == 2
typedef fmi2Component C;
typedef fmi2FMUstate Kept;
typedef fmi2Byte Byte;
typedef fmi2Boolean Truth;
enum { OK = fmi2OK, ERROR = fmi2Error };
static void hear(fmi2ComponentEnvironment e, fmi2String n, fmi2Status s, fmi2String c, fmi2String m, ...)
{
    va_list arguments;
    char text[1000];
    va_start(arguments, m);
    vsnprintf(text, sizeof text, m, arguments);
    va_end(arguments);
    (void)e, (void)n, (void)s, (void)c;
    if (text[0] == '\0')
        abort(); /* what is wrong must be said */
}
static C make(int cs, const char *token)
{
    static const fmi2CallbackFunctions callbacks = {hear, NULL, NULL, NULL, NULL};
    return fmi2Instantiate("x", cs ? fmi2CoSimulation : fmi2ModelExchange, token, "", &callbacks, 0, 1);
}
static int setup(C c, double t) { return fmi2SetupExperiment(c, 0, 0.0, t, 0, 0.0); }
static int enter(C c) { return fmi2EnterInitializationMode(c); }
static int get(C c, const unsigned *r, size_t n, double *v) { return fmi2GetReal(c, r, n, v); }
static int set(C c, const unsigned *r, size_t n, const double *v) { return fmi2SetReal(c, r, n, v); }
static int along(C c, const unsigned *u, size_t n, const unsigned *k, size_t m, const double *s, double *v)
{
    return fmi2GetDirectionalDerivative(c, u, n, k, m, s, v);
}
static int step(C c, double t, double h) { return fmi2DoStep(c, t, h, 1); }
static int renew(C c)
{
    fmi2EventInfo info;
    return fmi2NewDiscreteStates(c, &info);
}
#define F(name) fmi2##name
#define keep fmi2GetFMUstate
#define put_back fmi2SetFMUstate
#define drop fmi2FreeFMUstate
#define size_of fmi2SerializedFMUstateSize
#define pack fmi2SerializeFMUstate
#define unpack fmi2DeSerializeFMUstate
#define rates_of fmi2GetDerivatives
#else
typedef fmi3Instance C;
typedef fmi3FMUState Kept;
typedef fmi3Byte Byte;
typedef fmi3Boolean Truth;
enum { OK = fmi3OK, ERROR = fmi3Error };
static void hear(fmi3InstanceEnvironment e, fmi3Status s, fmi3String c, fmi3String m)
{
    (void)e, (void)s, (void)c;
    if (m[0] == '\0')
        abort();
}
static C make(int cs, const char *token)
{
    return cs ? fmi3InstantiateCoSimulation("x", token, "", 0, 1, 0, 0, NULL, 0, NULL, hear, NULL)
              : fmi3InstantiateModelExchange("x", token, "", 0, 1, NULL, hear);
}
static int setup(C c, double t) { return (void)c, (void)t, OK; }
static int enter(C c) { return fmi3EnterInitializationMode(c, 0, 0.0, 0.0, 0, 0.0); }
static int get(C c, const unsigned *r, size_t n, double *v) { return fmi3GetFloat64(c, r, n, v, n); }
static int set(C c, const unsigned *r, size_t n, const double *v) { return fmi3SetFloat64(c, r, n, v, n); }
static int along(C c, const unsigned *u, size_t n, const unsigned *k, size_t m, const double *s, double *v)
{
    double back[MOST_VALUES];
    const int one = fmi3GetAdjointDerivative(c, u, n, k, m, v, n, back, m);
    const int other = fmi3GetDirectionalDerivative(c, u, n, k, m, s, m, v, n);
    if ((one >= ERROR) != (other >= ERROR))
        abort();
    return other;
}
static int step(C c, double t, double h)
{
    Truth a, b, d;
    double last;
    return fmi3DoStep(c, t, h, 1, &a, &b, &d, &last);
}
static int renew(C c)
{
    Truth a, b, d, e, f;
    double next;
    return fmi3UpdateDiscreteStates(c, &a, &b, &d, &e, &f, &next);
}
#define F(name) fmi3##name
#define keep fmi3GetFMUState
#define put_back fmi3SetFMUState
#define drop fmi3FreeFMUState
#define size_of fmi3SerializedFMUStateSize
#define pack fmi3SerializeFMUState
#define unpack fmi3DeserializeFMUState
#define rates_of fmi3GetContinuousStateDerivatives
#endif

static __thread const char *last_call = "";
static __thread long sequence;
static long sequences;

/* The answer to a call: an error if it was illegal, none if it was legal. `free_to_fail`: a step may fail in earnest. */
static void expect(const char *call, int legal, int status, int free_to_fail)
{
    last_call = call;
    if ((legal && !free_to_fail && status >= ERROR) || (!legal && status < ERROR)) {
        fprintf(stderr, "sequence %ld: %s was %s and returned %d\n", sequence, call, legal ? "legal" : "illegal", status);
        exit(1);
    }
}

/* Values of variables by reference; some references that do not exist. */
static int some_references(unsigned *r, size_t n)
{
    int known = 1;
    for (size_t i = 0; i < n; i++) {
        r[i] = (unsigned)chance(R_END + (chance(20) == 0 ? 5 : 0));
        known = known && r[i] < R_END;
    }
    return known;
}

static int may_be_set(const Unit *m, unsigned r)
{
    if (r >= R_PARAMETER && r < R_INPUT)
        return !IS_FIXED[r - R_PARAMETER] || (m->s.mode & BEFORE);
    return (r >= R_STATE && r < R_RATE) || (r >= R_INPUT && r < R_OUTPUT);
}

static void one_sequence(void)
{
    const int cs = (int)chance(2);
    C c = make(cs, TOKEN);
    Unit *m = &((Instance *)c)->m;
    int mode = INSTANTIATED;
    Kept kept[MOST_STATES] = {NULL};
    int kept_mode[MOST_STATES] = {0};
    Byte *bytes = malloc(sizeof(Packed));
    double v[MOST_VALUES] = {0.0}, x[N_S + MOST_VALUES] = {0.0};
    unsigned r[MOST_VALUES], k[MOST_VALUES];
    Truth a, b;
    const int calls = 5 + (int)chance(MOST_CALLS);
    for (int i = 0; i < calls; i++) {
        const size_t n = 1 + chance(MOST_VALUES - 1);
        const int slot = (int)chance(MOST_STATES), hurry = chance(3) == 0; /* to where more is allowed */
        const int what = hurry && mode == INSTANTIATED ? 1 : hurry && mode == INITIALIZING ? 2
            : hurry && mode == EVENTS ? 5 : (int)chance(22);
        int known, status, legal;
        switch (what) {
        case 0:
            expect("setup", mode == INSTANTIATED || VERSION == 3, setup(c, 0.0), 0);
            break;
        case 1:
            legal = mode == INSTANTIATED;
            expect("enter initialization", legal, enter(c), 0);
            mode = legal ? INITIALIZING : mode;
            break;
        case 2:
            legal = mode == INITIALIZING;
            status = F(ExitInitializationMode)(c);
            expect("exit initialization", legal, status, 1);
            mode = !legal ? mode : status >= ERROR ? FAILED : cs ? STEPPING : EVENTS;
            break;
        case 3:
            legal = (mode & (EVENTS | CONTINUOUS)) != 0;
            expect("event mode", legal, F(EnterEventMode)(c), 0);
            mode = legal ? EVENTS : mode;
            break;
        case 4:
            expect("new states", mode == EVENTS, renew(c), 1);
            break;
        case 5:
            legal = mode == EVENTS;
            expect("continuous-time mode", legal, F(EnterContinuousTimeMode)(c), 0);
            mode = legal ? CONTINUOUS : mode;
            break;
        case 6:
            expect("completed step", mode == CONTINUOUS, F(CompletedIntegratorStep)(c, 1, &a, &b), 1);
            break;
        case 7:
            expect("time", (mode & (EVENTS | CONTINUOUS)) != 0, F(SetTime)(c, m->s.job.t + 0.001), 0);
            break;
        case 8:
            for (int j = 0; j < N_S; j++)
                x[j] = m->s.y[j] + 1e-4*(double)chance(10);
            expect("set states", mode == CONTINUOUS, F(SetContinuousStates)(c, x, N_S), 0);
            expect("set too few states", 0, F(SetContinuousStates)(c, x, N_S - 1), 0);
            break;
        case 9:
            legal = (mode & (INITIALIZING | RUNNING | TERMINATED)) != 0;
            expect("get states", legal, F(GetContinuousStates)(c, x, N_S), 1);
            expect("get rates", legal, rates_of(c, x, N_S), 1);
            expect("get too many rates", 0, rates_of(c, x, N_S + 1), 0);
            break;
        case 10:
            known = some_references(r, n);
            expect("get", known && mode != INSTANTIATED, get(c, r, n, v), 1);
            break;
        case 11: {
            known = some_references(r, 1);
            legal = known && (mode & (BEFORE | RUNNING)) && may_be_set(m, r[0]);
            v[0] = legal ? 1.0 + 1e-3*(double)chance(9) : 1.0;
            if (known && chance(3) && get(c, r, 1, &x[0]) == OK && isfinite(x[0]))
                v[0] = x[0]*(1.0 + 1e-3*(double)chance(9)); /* or else lengths may not fit any more */
            expect("set", legal != 0, set(c, r, 1, v), 0);
            v[0] = NAN;
            expect("set to nan", 0, set(c, r, 1, v), 0);
            break;
        }
        case 12: {
            const double t = m->s.job.t;
            status = step(c, t, 0.001*(1 + (double)chance(5)));
            expect("step", mode == STEPPING, status, 1);
            mode = mode == STEPPING && status >= ERROR ? FAILED : mode;
            expect("step from elsewhere", 0, step(c, m->s.job.t + 1.0, 0.001), 0);
            expect("step back", 0, step(c, m->s.job.t, -0.001), 0);
            break;
        }
        case 13:
            legal = (mode & RUNNING) != 0;
            if (chance(4) == 0) {
                expect("terminate", legal, F(Terminate)(c), 0);
                mode = legal ? TERMINATED : mode;
            }
            break;
        case 14:
            if (chance(4) == 0) {
                expect("reset", 1, F(Reset)(c), 0);
                mode = INSTANTIATED;
            }
            break;
        case 15:
            expect("keep", 1, keep(c, &kept[slot]), 0);
            kept_mode[slot] = mode;
            break;
        case 16:
            expect("put back", kept[slot] != NULL, put_back(c, kept[slot]), 0);
            mode = kept[slot] != NULL ? kept_mode[slot] : mode;
            break;
        case 17: {
            size_t size = 0;
            Kept again = NULL;
            expect("size", 1, size_of(c, kept[slot], &size), 0);
            expect("pack", kept[slot] != NULL, pack(c, kept[slot], bytes, size), 0);
            if (kept[slot] != NULL) {
                expect("pack into less", 0, pack(c, kept[slot], bytes, size - 1), 0);
                expect("unpack", 1, unpack(c, bytes, size, &again), 0);
                expect("put back what was packed", 1, put_back(c, again), 0);
                mode = kept_mode[slot];
                bytes[chance(size)] ^= (Byte)(1 + chance(100));
                drop(c, &again);
                expect("unpack what was changed", 0, unpack(c, bytes, size, &again), 0);
                expect("unpack less", 0, unpack(c, bytes, size - 1, &again), 0);
            }
            break;
        }
        case 18:
            expect("drop", 1, drop(c, &kept[slot]), 0);
            break;
        case 19:
            known = 1;
            for (size_t j = 0; j < n; j++) {
                r[j] = (unsigned)(chance(2) && N_OUT > 0 ? R_OUTPUT + chance(N_OUT + (N_OUT == 0)) : R_RATE + chance(N_S));
                k[j] = (unsigned)chance(R_END);
                known = known && (k[j] == R_TIME || may_be_set(&(Unit){.s = {.mode = INSTANTIATED}}, k[j]));
                v[j] = 1.0;
            }
            expect("slopes", known && (mode & (INITIALIZING | RUNNING | TERMINATED)), along(c, r, n, k, n, v, x), 1);
            break;
        case 20:
            expect("nominals", 1, F(GetNominalsOfContinuousStates)(c, x, N_S), 0);
            expect("no event indicators", 0, F(GetEventIndicators)(c, x, 1), 0);
            break;
        default:
            if (make(cs, "{another}") != NULL || make(cs, NULL) != NULL)
                abort();
        }
        if (m->s.mode != mode) {
            fprintf(stderr, "sequence %ld: after %s the unit is in mode %d, not %d\n", sequence, last_call,
                (int)m->s.mode, mode);
            exit(1);
        }
    }
    for (int j = 0; j < MOST_STATES; j++)
        drop(c, &kept[j]);
    free(bytes);
    F(FreeInstance)(c);
}

static void *all_sequences(void *first)
{
    seed = 88172645463325252u + *(uint64_t *)first;
    for (sequence = 0; sequence < sequences; sequence++)
        one_sequence();
    return NULL;
}

int main(int count, char **words)
{
    enum { MOST_THREADS = 16 };
    pthread_t thread[MOST_THREADS];
    uint64_t first[MOST_THREADS];
    const int threads = count > 3 ? (int)strtol(words[3], NULL, 10) : 1;
    sequences = count > 1 ? strtol(words[1], NULL, 10) : 100;
    F(FreeInstance)(NULL);
    for (int i = 0; i < threads && i < MOST_THREADS; i++) {
        first[i] = (uint64_t)i + (count > 2 ? (uint64_t)strtol(words[2], NULL, 10) : 0u);
        if (pthread_create(&thread[i], NULL, all_sequences, &first[i]))
            return 1;
    }
    for (int i = 0; i < threads && i < MOST_THREADS; i++)
        pthread_join(thread[i], NULL);
    printf("%ld sequences\n", sequences);
    return 0;
}
