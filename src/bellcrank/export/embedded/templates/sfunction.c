/* @TITLE@ in Simulink: an S-function (C MEX, level 2) over @STEM@.c, with a fixed step. Written by Bellcrank.

       mex @BLOCK@.c @STEM@.c

   then a block "S-Function" with the name @BLOCK@ and the parameters STEP, PARAMETERS, STATE: the step in s, vectors
   of all parameters and of the initial state in the order of @STEM@.h; [] stands for what the model has. Values are in
   the units of @STEM@.h. Inputs are read once in a step and held over it.

@IF INPUTS@
   input  1: @INPUTS@
@END@
   output 1: @OUTPUTS@
@IF STATES@
   output 2: @STATES@
@END@
*/

#define S_FUNCTION_NAME @BLOCK@
#define S_FUNCTION_LEVEL 2

#include "simstruc.h"

#include "@STEM@.h"

enum { STEP, PARAMETERS, STATE, N_DIALOG };
enum { N_GIVEN = @N_GIVEN@, N_S = @N_S@, N_I = @N_I@, N_OUT = @N_OUT@ };

static const char IS_FIXED[] = {@IS_FIXED@}; /* parameters that cannot be changed during a run */

/* The model lies in work memory of the block, which Simulink keeps and restores. */
static @STEM@_model *model_of(SimStruct *S)
{
    return (@STEM@_model *)ssGetDWork(S, 0);
}

/* How many numbers the dialog gives for something: 0 stands for what the model has, -1 for what is no such vector. */
static int given(SimStruct *S, int which)
{
    const mxArray *x = ssGetSFcnParam(S, which);
    if (!mxIsDouble(x) || mxIsComplex(x))
        return -1;
    return (int)mxGetNumberOfElements(x);
}

static double step_of(SimStruct *S)
{
    return given(S, STEP) == 1 ? mxGetPr(ssGetSFcnParam(S, STEP))[0] : @UPPER@_STEP;
}

#define MDL_CHECK_PARAMETERS
static void mdlCheckParameters(SimStruct *S)
{
    const int steps = given(S, STEP), parameters = given(S, PARAMETERS), states = given(S, STATE);
    if ((steps != 0 && steps != 1) || !(step_of(S) > 0.0))
        ssSetErrorStatus(S, "STEP must be a positive number of seconds, or [] for that of the model");
    else if (parameters != 0 && parameters != N_GIVEN)
        ssSetErrorStatus(S, "PARAMETERS must be a vector of @N_GIVEN@ numbers, or [] for those of the model");
    else if (states != 0 && states != N_S)
        ssSetErrorStatus(S, "STATE must be a vector of @N_S@ numbers, or [] for that of the model");
}

static void mdlInitializeSizes(SimStruct *S)
{
    ssSetNumSFcnParams(S, N_DIALOG);
    if (ssGetNumSFcnParams(S) != ssGetSFcnParamsCount(S))
        return; /* Simulink says so */
    mdlCheckParameters(S);
    if (ssGetErrorStatus(S) != NULL)
        return;
    ssSetSFcnParamTunable(S, STEP, 0);
    ssSetSFcnParamTunable(S, PARAMETERS, 1);
    ssSetSFcnParamTunable(S, STATE, 0);
    ssSetNumContStates(S, 0);
    ssSetNumDiscStates(S, 0);
    if (!ssSetNumInputPorts(S, N_I > 0 ? 1 : 0) || !ssSetNumOutputPorts(S, @PORTS@))
        return;
    if (N_I > 0) {
        ssSetInputPortWidth(S, 0, N_I);
        ssSetInputPortRequiredContiguous(S, 0, 1);
        ssSetInputPortDirectFeedThrough(S, 0, 0);
    }
@IF STATES@
    ssSetOutputPortWidth(S, 0, N_OUT);
    ssSetOutputPortWidth(S, 1, N_S);
@ELSE@
    ssSetOutputPortWidth(S, 0, N_S);
@END@
    ssSetNumSampleTimes(S, 1);
    ssSetNumDWork(S, 1);
    ssSetDWorkWidth(S, 0, (int)((sizeof(@STEM@_model) + sizeof(double) - 1)/sizeof(double)));
    ssSetDWorkDataType(S, 0, SS_DOUBLE);
    ssSetOptions(S, SS_OPTION_EXCEPTION_FREE_CODE);
}

static void mdlInitializeSampleTimes(SimStruct *S)
{
    ssSetSampleTime(S, 0, step_of(S));
    ssSetOffsetTime(S, 0, 0.0);
}

static void take_inputs(SimStruct *S)
{
    const double *w = N_I > 0 ? (const double *)ssGetInputPortSignal(S, 0) : NULL;
    for (int i = 0; i < N_I; i++)
        model_of(S)->w[i] = w[i];
}

static void tell(SimStruct *S, int failed)
{
    if (failed == @UPPER@_NOT_FINITE)
        ssSetErrorStatus(S, "@STEM@: a state or constant is no finite number: may the step be too long?");
@IF EVENTS@
    else if (failed == @UPPER@_STOPPED)
        ssSetStopRequested(S, 1);
    else if (failed == @UPPER@_CHATTERS)
        ssSetErrorStatus(S, "@STEM@: an event acts again at once, or there are too many actions in one step");
@END@
    else if (failed)
        ssSetErrorStatus(S, "@STEM@: loops cannot be closed, or a singular position is near");
}

#define MDL_INITIALIZE_CONDITIONS
static void mdlInitializeConditions(SimStruct *S)
{
    @STEM@_model *m = model_of(S);
    @STEM@_defaults(m);
    m->h = step_of(S);
    m->t = ssGetTStart(S);
    for (int i = 0; given(S, PARAMETERS) > 0 && i < N_GIVEN; i++)
        m->p[i] = mxGetPr(ssGetSFcnParam(S, PARAMETERS))[i];
    for (int i = 0; given(S, STATE) > 0 && i < N_S; i++)
        m->y[i] = mxGetPr(ssGetSFcnParam(S, STATE))[i];
    tell(S, @STEM@_begin(m));
}

#define MDL_PROCESS_PARAMETERS
static void mdlProcessParameters(SimStruct *S)
{
    @STEM@_model *m = model_of(S);
    const double *p = given(S, PARAMETERS) > 0 ? mxGetPr(ssGetSFcnParam(S, PARAMETERS)) : NULL;
    for (int i = 0; p != NULL && i < N_GIVEN; i++)
        if (IS_FIXED[i] && (p[i] < m->p[i] || p[i] > m->p[i])) {
            ssSetErrorStatus(S, "@STEM@: a parameter by which loops are closed cannot be changed during a run");
            return;
        }
    for (int i = 0; p != NULL && i < N_GIVEN; i++)
        m->p[i] = p[i];
    @STEM@_tune(m);
}

static void mdlOutputs(SimStruct *S, int_T task)
{
    const @STEM@_model *m = model_of(S);
    double *y = (double *)ssGetOutputPortSignal(S, @PORTS@ - 1);
    (void)task;
@IF STATES@
    double *out = (double *)ssGetOutputPortSignal(S, 0);
    for (int i = 0; i < N_OUT; i++)
        out[i] = m->out[i];
@END@
    for (int i = 0; i < N_S; i++)
        y[i] = m->y[i];
}

#define MDL_UPDATE
static void mdlUpdate(SimStruct *S, int_T task)
{
    (void)task;
    take_inputs(S);
    tell(S, @STEM@_step(model_of(S)));
}

static void mdlTerminate(SimStruct *S)
{
    (void)S;
}

#ifdef MATLAB_MEX_FILE
#include "simulink.c"
#else
#include "cg_sfun.h"
#endif
