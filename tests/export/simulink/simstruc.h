/* A stand-in for Simulink's header: what S-functions of the tests use of it, with the names and types of its manual. */
#include <stddef.h>

typedef int int_T;
typedef struct {
    int n, is_complex;
    double *values;
} mxArray;
typedef struct {
    const mxArray *dialog[8];
    int dialog_count, wanted, inputs, outputs, input_width, output_width[4], feeds_through, work_width;
    const char *error;
    double sample_time, offset, start, *input, *output[4], *work;
} SimStruct;

#define SS_DOUBLE 0
#define SS_OPTION_EXCEPTION_FREE_CODE 1
#define ssSetNumSFcnParams(S, n) ((S)->wanted = (n))
#define ssGetNumSFcnParams(S) ((S)->wanted)
#define ssGetSFcnParamsCount(S) ((S)->dialog_count)
#define ssGetSFcnParam(S, i) ((S)->dialog[i])
#define ssSetSFcnParamTunable(S, i, yes) ((void)(S), (void)(i), (void)(yes))
#define ssSetErrorStatus(S, words) ((S)->error = (words))
#define ssSetStopRequested(S, yes) ((void)(S), (void)(yes))
#define ssGetErrorStatus(S) ((S)->error)
#define ssSetNumContStates(S, n) ((void)(S), (void)(n))
#define ssSetNumDiscStates(S, n) ((void)(S), (void)(n))
#define ssSetNumInputPorts(S, n) ((S)->inputs = (n), 1)
#define ssSetNumOutputPorts(S, n) ((S)->outputs = (n), 1)
#define ssSetInputPortWidth(S, i, n) ((void)(i), (S)->input_width = (n))
#define ssSetInputPortRequiredContiguous(S, i, yes) ((void)(S), (void)(i), (void)(yes))
#define ssSetInputPortDirectFeedThrough(S, i, yes) ((void)(i), (S)->feeds_through = (yes))
#define ssSetOutputPortWidth(S, i, n) ((S)->output_width[i] = (n))
#define ssSetNumSampleTimes(S, n) ((void)(S), (void)(n))
#define ssSetSampleTime(S, i, t) ((void)(i), (S)->sample_time = (t))
#define ssSetOffsetTime(S, i, t) ((void)(i), (S)->offset = (t))
#define ssSetNumDWork(S, n) ((void)(S), (void)(n))
#define ssSetDWorkWidth(S, i, n) ((void)(i), (S)->work_width = (n))
#define ssSetDWorkDataType(S, i, kind) ((void)(S), (void)(i), (void)(kind))
#define ssSetOptions(S, options) ((void)(S), (void)(options))
#define ssGetDWork(S, i) ((void)(i), (void *)(S)->work)
#define ssGetInputPortSignal(S, i) ((void)(i), (const void *)(S)->input)
#define ssGetOutputPortSignal(S, i) ((void *)(S)->output[i])
#define ssGetTStart(S) ((S)->start)

static int mxIsDouble(const mxArray *x)
{
    return x != NULL;
}

static int mxIsComplex(const mxArray *x)
{
    return x->is_complex;
}

static size_t mxGetNumberOfElements(const mxArray *x)
{
    return (size_t)x->n;
}

static double *mxGetPr(const mxArray *x)
{
    return x->values;
}
