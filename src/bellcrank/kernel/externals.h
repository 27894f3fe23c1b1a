/* ---- external routines and what they remember */

typedef struct Externals {
    int (*callback)(int32_t routine, int32_t live, const double *arguments, double *values); /* not in this file */
    double *memory;             /* of those in this file, one after another */
    int32_t live;               /* whose memory may change? 1: of routines for rates, 2: for outputs and kept values */
    int32_t failed;             /* 1 + the number of a routine that failed, else 0 */
} Externals;
