/* @TITLE@ on the bench: how long steps take, or the rows of a run. Written by Bellcrank.

       @STEM@_bench [SECONDS]         times every step of a run with the inputs of the model
       @STEM@_bench --rows SECONDS    prints time, state and outputs of every step as a table */

#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "@STEM@.h"

enum { N_S = @N_S@, N_OUT = @N_OUT@, EDGES = @N_EDGES@ };
static const double EDGE[EDGES] = {@EDGES@}; /* us */

/* Seconds; a board has a counter of its own for it. */
static double now(void)
{
#ifdef CLOCK_MONOTONIC
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9*(double)at.tv_nsec;
#else
    return (double)clock()/CLOCKS_PER_SEC;
#endif
}

static void print_row(const @STEM@_model *m)
{
    printf("%.@DIGITS@g", (double)m->t);
    for (int j = 0; j < N_S; j++)
        printf(",%.@DIGITS@g", (double)m->y[j]);
    for (int j = 0; j < N_OUT; j++)
        printf(",%.@DIGITS@g", (double)m->out[j]);
    printf("\n");
}

static int told(const @STEM@_model *m, int failed)
{
    static const char *const words[] = {"", "a state is no longer a finite number", "loops cannot be closed"@WORDS@};
    if (failed)
        fprintf(stderr, "stopped at t = %g s: %s\n", (double)m->t, words[failed]);
    return failed;
}

int main(int count, char **given)
{
    static const char *const names[] = {@NAMES@};
    @STEM@_model m;
    const int rows = count > 1 && strcmp(given[1], "--rows") == 0;
    const double seconds = count > 1 + rows ? atof(given[1 + rows]) : @T_END@;
    long steps, done, bins[EDGES] = {0};
    double most = 0.0, all = 0.0;
    int failed;
    @STEM@_defaults(&m);
    steps = (long)(seconds/(double)m.h + 0.5);
    if (told(&m, failed = @STEM@_begin(&m)))
        return 1;
    for (int j = 0; rows && j < 1 + N_S + N_OUT; j++)
        printf(j ? ",%s" : "%s", names[j]);
    if (rows) {
        printf("\n");
        print_row(&m);
    }
    for (done = 0; done < steps && !failed; done++) {
        const double began = now();
        failed = @STEM@_step(&m);
        const double took = 1e6*(now() - began);
@IF WORDS@
        if (rows && failed == @UPPER@_STOPPED)
            print_row(&m);
@END@
        if (told(&m, failed))
            break;
        int bin = 0;
        while (bin < EDGES - 1 && took >= EDGE[bin + 1])
            bin++;
        bins[bin]++;
        most = took > most ? took : most;
        all += took;
        if (rows)
            print_row(&m);
    }
    if (rows)
        return failed != 0;
    printf("%ld steps of %g s: %.3g us in the mean, %.3g us at most\n", done, (double)m.h,
           all/(double)(done ? done : 1), most);
    for (int bin = 0; bin < EDGES; bin++)
        if (bins[bin])
            printf("  from %6g us: %ld\n", EDGE[bin], bins[bin]);
    return failed != 0;
}
