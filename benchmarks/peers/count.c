/* Calls a right-hand side a number of times, to be run under valgrind: count LIBRARY CALLS SETUP-ARGUMENT NQ NU STATES... */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    (void)argc;
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    int (*setup)(const char *) = (int (*)(const char *))dlsym(library, "setup");
    void (*call)(const double *, const double *, double *) = (void (*)(const double *, const double *, double *))dlsym(library, "call");
    if (setup && setup(argv[3]) < 0)
        return 1;
    static double q[1024], u[1024], out[4096];
    const int nq = atoi(argv[4]), nu = atoi(argv[5]);
    for (int i = 0; i < nq; i++)
        q[i] = atof(argv[6 + i]);
    for (int i = 0; i < nu; i++)
        u[i] = atof(argv[6 + nq + i]);
    for (long i = atol(argv[2]); i > 0; i--)
        call(q, u, out);
    printf("%g\n", out[0]);
    return 0;
}
