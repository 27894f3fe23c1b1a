/* Types and functions of FMI 2.0 for the file fmi2.c beside it, from the text of the standard. Importers have a header
   of this name themselves. */

#ifndef FMI2_FUNCTIONS
#define FMI2_FUNCTIONS

#include <stddef.h>

#ifdef _WIN32
#define FMI2_EXPORT __declspec(dllexport)
#else
#define FMI2_EXPORT __attribute__((visibility("default")))
#endif

#define fmi2TypesPlatform "default"
#define fmi2Version "2.0"
#define fmi2True 1
#define fmi2False 0

typedef void *fmi2Component, *fmi2ComponentEnvironment, *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer, fmi2Boolean;
typedef const char *fmi2String;
typedef char fmi2Byte;

typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum { fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated } fmi2StatusKind;

typedef struct {
    void (*logger)(fmi2ComponentEnvironment, fmi2String name, fmi2Status, fmi2String category, fmi2String message, ...);
    void *(*allocateMemory)(size_t, size_t);
    void (*freeMemory)(void *);
    void (*stepFinished)(fmi2ComponentEnvironment, fmi2Status);
    fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;

typedef struct {
    fmi2Boolean newDiscreteStatesNeeded, terminateSimulation, nominalsOfContinuousStatesChanged;
    fmi2Boolean valuesOfContinuousStatesChanged, nextEventTimeDefined;
    fmi2Real nextEventTime;
} fmi2EventInfo;

#define C fmi2Component
#define R const fmi2ValueReference[], size_t
#define X FMI2_EXPORT
#define S FMI2_EXPORT fmi2Status

X const char *fmi2GetTypesPlatform(void);
X const char *fmi2GetVersion(void);
X fmi2Component fmi2Instantiate(fmi2String, fmi2Type, fmi2String, fmi2String, const fmi2CallbackFunctions *,
    fmi2Boolean, fmi2Boolean);
X void fmi2FreeInstance(C);
S fmi2SetDebugLogging(C, fmi2Boolean, size_t, const fmi2String[]);
S fmi2SetupExperiment(C, fmi2Boolean, fmi2Real, fmi2Real, fmi2Boolean, fmi2Real);
S fmi2EnterInitializationMode(C);
S fmi2ExitInitializationMode(C);
S fmi2Terminate(C);
S fmi2Reset(C);
S fmi2GetReal(C, R, fmi2Real[]);
S fmi2GetInteger(C, R, fmi2Integer[]);
S fmi2GetBoolean(C, R, fmi2Boolean[]);
S fmi2GetString(C, R, fmi2String[]);
S fmi2SetReal(C, R, const fmi2Real[]);
S fmi2SetInteger(C, R, const fmi2Integer[]);
S fmi2SetBoolean(C, R, const fmi2Boolean[]);
S fmi2SetString(C, R, const fmi2String[]);
S fmi2GetFMUstate(C, fmi2FMUstate *);
S fmi2SetFMUstate(C, fmi2FMUstate);
S fmi2FreeFMUstate(C, fmi2FMUstate *);
S fmi2SerializedFMUstateSize(C, fmi2FMUstate, size_t *);
S fmi2SerializeFMUstate(C, fmi2FMUstate, fmi2Byte[], size_t);
S fmi2DeSerializeFMUstate(C, const fmi2Byte[], size_t, fmi2FMUstate *);
S fmi2GetDirectionalDerivative(C, R, R, const fmi2Real[], fmi2Real[]);
S fmi2EnterEventMode(C);
S fmi2NewDiscreteStates(C, fmi2EventInfo *);
S fmi2EnterContinuousTimeMode(C);
S fmi2CompletedIntegratorStep(C, fmi2Boolean, fmi2Boolean *, fmi2Boolean *);
S fmi2SetTime(C, fmi2Real);
S fmi2SetContinuousStates(C, const fmi2Real[], size_t);
S fmi2GetDerivatives(C, fmi2Real[], size_t);
S fmi2GetEventIndicators(C, fmi2Real[], size_t);
S fmi2GetContinuousStates(C, fmi2Real[], size_t);
S fmi2GetNominalsOfContinuousStates(C, fmi2Real[], size_t);
S fmi2SetRealInputDerivatives(C, R, const fmi2Integer[], const fmi2Real[]);
S fmi2GetRealOutputDerivatives(C, R, const fmi2Integer[], fmi2Real[]);
S fmi2DoStep(C, fmi2Real, fmi2Real, fmi2Boolean);
S fmi2CancelStep(C);
S fmi2GetStatus(C, const fmi2StatusKind, fmi2Status *);
S fmi2GetRealStatus(C, const fmi2StatusKind, fmi2Real *);
S fmi2GetIntegerStatus(C, const fmi2StatusKind, fmi2Integer *);
S fmi2GetBooleanStatus(C, const fmi2StatusKind, fmi2Boolean *);
S fmi2GetStringStatus(C, const fmi2StatusKind, fmi2String *);

#undef C
#undef R
#undef X
#undef S

#endif
