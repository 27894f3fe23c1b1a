#if !HAS_LOOPS
#include "tables/loops.h"
#include "length.c"
#include "least_norm.c"
#endif
#include "closing.c"

/* The same for a job, at its time. */
EXPORT int close_loops(GIVEN Job *job, double *y, const int *may, int nudges, double *residual, int *reverse)
{
    ARRAY(double, w, N_W + 1);
    memset(w, 0, (N_W + 1)*sizeof *w);
    const Place at = {job->t, job->p, job->c, w, job->externals};
    set_inputs(HERE job, job->t, w);
    return close_at(HERE &at, y, may, nudges, residual, reverse);
}

#if HAS_LOOPS
/* The metric in which loops are kept closed: roots of the inverse inertias of coordinates and speeds at the start, so
   that corrections move what is light. */
EXPORT void find_metric(GIVEN Job *job, const double *y, double *root_q, double *root_u)
{
    ARRAY(double, heavy, N_U + 1);
    ARRAY(double, still, N_Q + 1);
    ARRAY(double, moving, N_Q + 1);
    ARRAY(double, one, N_U + 1);
    memset(one, 0, (N_U + 1)*sizeof *one);
    ARRAY(double, w, N_W + 1);
    memset(w, 0, (N_W + 1)*sizeof *w);
    double most = 0.0, least = INFINITY;
    set_inputs(HERE job, job->t, w);
    memset(root_q, 0, N_Q*sizeof *root_q);
    inertias(job->t, y, y + N_Q, job->p, job->c, w, heavy, job->externals);
    for (int i = 0; i < N_U; i++)
        most = heavy[i] > most ? heavy[i] : most;
    for (int i = 0; i < N_U; i++) {
        const double inertia = heavy[i] > LIGHT*most ? heavy[i] : LIGHT*most;
        root_u[i] = most > 0.0 ? 1.0/inertia : 1.0;
        least = root_u[i] < least ? root_u[i] : least;
    }
    coordinate_rates(job->t, y, one, job->p, job->c, w, still, job->externals);
    for (int i = 0; i < N_U; i++) {
        one[i] = 1.0;
        coordinate_rates(job->t, y, one, job->p, job->c, w, moving, job->externals);
        one[i] = 0.0;
        for (int j = 0; j < N_Q; j++)
            root_q[j] += root_u[i]*(moving[j] - still[j])*(moving[j] - still[j]);
    }
    for (int j = 0; j < N_Q; j++)
        root_q[j] = sqrt(root_q[j] > 0.0 ? root_q[j] : least);
    for (int i = 0; i < N_U; i++)
        root_u[i] = sqrt(root_u[i]);
}

/* Brings the state of a job onto its branch, if it is in a singular position. Returns the status. */
EXPORT int find_branch(GIVEN Job *job)
{
    ARRAY(double, w, N_W + 1);
    memset(w, 0, (N_W + 1)*sizeof *w);
    return begin(HERE job, job->t, w);
}
#endif
