/* States and outputs of a unit over 20 steps of co-simulation, to the last bit; beside the sources of an FMI 2 unit. */
#include <stdio.h>

#include "fmi2.c"

static void hear(fmi2ComponentEnvironment e, fmi2String n, fmi2Status s, fmi2String c, fmi2String m, ...)
{
    (void)e, (void)n, (void)s, (void)c;
    puts(m);
}

int main(void)
{
    static const fmi2CallbackFunctions callbacks = {hear, NULL, NULL, NULL, NULL};
    const double h = 0.01;
    fmi2Component c = fmi2Instantiate("x", fmi2CoSimulation, TOKEN, "", &callbacks, 0, 0);
    if (c == NULL || fmi2SetupExperiment(c, 0, 0.0, 0.0, 0, 0.0) || fmi2EnterInitializationMode(c)
        || fmi2ExitInitializationMode(c))
        return 1;
    for (int i = 0; i < 20; i++) {
        double value;
        if (fmi2DoStep(c, i*h, h, 1))
            return 1;
        for (fmi2ValueReference r = 0; fmi2GetReal(c, &r, 1, &value) == fmi2OK; r++)
            printf("%d %u %a\n", i, r, value);
    }
    fmi2FreeInstance(c);
    return 0;
}
