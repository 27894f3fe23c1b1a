/* A stand-in for what Simulink appends to S-functions: runs the block over `count` steps with rows of inputs, and writes
   rows of its outputs, those at the start first. From step `when` on the parameters are others. Returns what went wrong. */
#include <stdlib.h>

const char *simulate(mxArray *step, mxArray *parameters, mxArray *state, const mxArray *later, int when, int count,
    double *inputs, double *rows)
{
    SimStruct block = {{step, parameters, state}, 3, 0, 0, 0, 0, {0}, -1, 0, NULL, 0, 0, 0, NULL, {0}, NULL};
    SimStruct *S = &block;
    mdlInitializeSizes(S);
    if (S->error)
        return S->error;
    mdlInitializeSampleTimes(S);
    S->work = malloc((size_t)S->work_width*sizeof *S->work);
    mdlInitializeConditions(S);
    for (int i = 0; i <= count && !S->error; i++) {
        for (int port = 0; port < S->outputs; port++) {
            S->output[port] = rows;
            rows += S->output_width[port];
        }
        if (i == when) {
            S->dialog[1] = later;
            mdlCheckParameters(S);
            if (!S->error)
                mdlProcessParameters(S);
        }
        S->input = inputs + i*S->input_width;
        mdlOutputs(S, 0);
        if (i < count && !S->error)
            mdlUpdate(S, 0);
    }
    mdlTerminate(S);
    free(S->work);
    return S->error;
}
