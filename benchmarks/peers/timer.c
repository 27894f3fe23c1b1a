/* Time of one call, over states that change from call to call; or, where `chained` is the place of an acceleration and
   not -1, each state depends on the result before. */
#include <string.h>
#include <time.h>

typedef void (*Call)(const double *q, const double *u, double *out);

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9*(double)t.tv_sec + (double)t.tv_nsec;
}

double nanoseconds(Call call, const double *q, int nq, const double *u, int nu, int states, double *out, int calls, int chained)
{
    double q_next[1024];
    memcpy(q_next, q, (size_t)nq*sizeof *q);
    const double start = now();
    for (int i = 0; i < calls; i++) {
        if (chained >= 0) {
            call(q_next, u, out);
            for (int j = 0; j < nq; j++)
                q_next[j] = q[j] + 1e-12*out[chained];
        } else
            call(q + (i % states)*nq, u + (i % states)*nu, out);
    }
    return (now() - start)/calls;
}
