/* Types and functions of FMI 3.0 for the file fmi3.c beside it, from the text of the standard. Importers have a header
   of this name themselves. */

#ifndef FMI3_FUNCTIONS
#define FMI3_FUNCTIONS

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef _WIN32
#define FMI3_EXPORT __declspec(dllexport)
#else
#define FMI3_EXPORT __attribute__((visibility("default")))
#endif

#define fmi3Version "3.0"
#define fmi3True true
#define fmi3False false

typedef void *fmi3Instance, *fmi3InstanceEnvironment, *fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef float fmi3Float32;
typedef double fmi3Float64;
typedef int8_t fmi3Int8;
typedef uint8_t fmi3UInt8;
typedef int16_t fmi3Int16;
typedef uint16_t fmi3UInt16;
typedef int32_t fmi3Int32;
typedef uint32_t fmi3UInt32;
typedef int64_t fmi3Int64;
typedef uint64_t fmi3UInt64;
typedef bool fmi3Boolean, fmi3Clock;
typedef const char *fmi3String;
typedef uint8_t fmi3Byte;
typedef const fmi3Byte *fmi3Binary;

typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef enum {
    fmi3Independent, fmi3Constant, fmi3Fixed, fmi3Tunable, fmi3Discrete, fmi3Dependent
} fmi3DependencyKind;
typedef enum { fmi3IntervalNotYetKnown, fmi3IntervalUnchanged, fmi3IntervalChanged } fmi3IntervalQualifier;

typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment, fmi3Status, fmi3String category, fmi3String message);
typedef void (*fmi3ClockUpdateCallback)(fmi3InstanceEnvironment);
typedef void (*fmi3IntermediateUpdateCallback)(fmi3InstanceEnvironment, fmi3Float64, fmi3Boolean, fmi3Boolean,
    fmi3Boolean, fmi3Boolean, fmi3Boolean *, fmi3Float64 *);
typedef void (*fmi3LockPreemptionCallback)(void);
typedef void (*fmi3UnlockPreemptionCallback)(void);

#define C fmi3Instance
#define B fmi3Boolean
#define T fmi3Float64
#define R const fmi3ValueReference[], size_t
#define X FMI3_EXPORT
#define S FMI3_EXPORT fmi3Status
#define BOTH_WAYS(Type) \
    S fmi3Get##Type(C, R, fmi3##Type[], size_t); \
    S fmi3Set##Type(C, R, const fmi3##Type[], size_t);

X const char *fmi3GetVersion(void);
X fmi3Instance fmi3InstantiateModelExchange(fmi3String, fmi3String, fmi3String, B, B, fmi3InstanceEnvironment,
    fmi3LogMessageCallback);
X fmi3Instance fmi3InstantiateCoSimulation(fmi3String, fmi3String, fmi3String, B, B, B, B, R, fmi3InstanceEnvironment,
    fmi3LogMessageCallback, fmi3IntermediateUpdateCallback);
X fmi3Instance fmi3InstantiateScheduledExecution(fmi3String, fmi3String, fmi3String, B, B, fmi3InstanceEnvironment,
    fmi3LogMessageCallback, fmi3ClockUpdateCallback, fmi3LockPreemptionCallback, fmi3UnlockPreemptionCallback);
X void fmi3FreeInstance(C);
S fmi3SetDebugLogging(C, B, size_t, const fmi3String[]);
S fmi3EnterInitializationMode(C, B, T, T, B, T);
S fmi3ExitInitializationMode(C);
S fmi3EnterEventMode(C);
S fmi3Terminate(C);
S fmi3Reset(C);
BOTH_WAYS(Float32)
BOTH_WAYS(Float64)
BOTH_WAYS(Int8)
BOTH_WAYS(UInt8)
BOTH_WAYS(Int16)
BOTH_WAYS(UInt16)
BOTH_WAYS(Int32)
BOTH_WAYS(UInt32)
BOTH_WAYS(Int64)
BOTH_WAYS(UInt64)
BOTH_WAYS(Boolean)
BOTH_WAYS(String)
S fmi3GetBinary(C, R, size_t[], fmi3Binary[], size_t);
S fmi3SetBinary(C, R, const size_t[], const fmi3Binary[], size_t);
S fmi3GetClock(C, R, fmi3Clock[]);
S fmi3SetClock(C, R, const fmi3Clock[]);
S fmi3GetNumberOfVariableDependencies(C, fmi3ValueReference, size_t *);
S fmi3GetVariableDependencies(C, fmi3ValueReference, size_t[], fmi3ValueReference[], size_t[], fmi3DependencyKind[],
    size_t);
S fmi3GetFMUState(C, fmi3FMUState *);
S fmi3SetFMUState(C, fmi3FMUState);
S fmi3FreeFMUState(C, fmi3FMUState *);
S fmi3SerializedFMUStateSize(C, fmi3FMUState, size_t *);
S fmi3SerializeFMUState(C, fmi3FMUState, fmi3Byte[], size_t);
S fmi3DeserializeFMUState(C, const fmi3Byte[], size_t, fmi3FMUState *);
S fmi3GetDirectionalDerivative(C, R, R, const T[], size_t, T[], size_t);
S fmi3GetAdjointDerivative(C, R, R, const T[], size_t, T[], size_t);
S fmi3EnterConfigurationMode(C);
S fmi3ExitConfigurationMode(C);
S fmi3GetIntervalDecimal(C, R, T[], fmi3IntervalQualifier[]);
S fmi3GetIntervalFraction(C, R, fmi3UInt64[], fmi3UInt64[], fmi3IntervalQualifier[]);
S fmi3GetShiftDecimal(C, R, T[]);
S fmi3GetShiftFraction(C, R, fmi3UInt64[], fmi3UInt64[]);
S fmi3SetIntervalDecimal(C, R, const T[]);
S fmi3SetIntervalFraction(C, R, const fmi3UInt64[], const fmi3UInt64[]);
S fmi3SetShiftDecimal(C, R, const T[]);
S fmi3SetShiftFraction(C, R, const fmi3UInt64[], const fmi3UInt64[]);
S fmi3EvaluateDiscreteStates(C);
S fmi3UpdateDiscreteStates(C, B *, B *, B *, B *, B *, T *);
S fmi3EnterContinuousTimeMode(C);
S fmi3CompletedIntegratorStep(C, B, B *, B *);
S fmi3SetTime(C, T);
S fmi3SetContinuousStates(C, const T[], size_t);
S fmi3GetContinuousStateDerivatives(C, T[], size_t);
S fmi3GetEventIndicators(C, T[], size_t);
S fmi3GetContinuousStates(C, T[], size_t);
S fmi3GetNominalsOfContinuousStates(C, T[], size_t);
S fmi3GetNumberOfEventIndicators(C, size_t *);
S fmi3GetNumberOfContinuousStates(C, size_t *);
S fmi3EnterStepMode(C);
S fmi3GetOutputDerivatives(C, R, const fmi3Int32[], T[], size_t);
S fmi3DoStep(C, T, T, B, B *, B *, B *, T *);
S fmi3ActivateModelPartition(C, fmi3ValueReference, T);

#undef C
#undef B
#undef T
#undef R
#undef X
#undef S
#undef BOTH_WAYS

#endif
