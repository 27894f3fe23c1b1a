/* ---- closed loops: a state is brought onto the constraints by the smallest change */

#define CLOSED 1e-13            /* largest residual of a closed loop, in units of its equations ... */
#define TIGHT 1e-15             /* ... near a singular position, where residuals are magnified */
#define OPEN 1e-9               /* ... and of a loop that is not closed */
#define SETTLED 1e-7            /* a correction of q below this leaves a residual of rounding only */
enum {
    MOST_ROWS = N_G > N_V ? N_G : N_V,
    LARGEST_A = N_G*N_Q > N_V*N_U ? N_G*N_Q : N_V*N_U
};

static double length(int n, const double *x)
{
    double sum = 0.0;
    for (int j = 0; j < n; j++)
        sum += x[j]*x[j];
    return sqrt(sum);
}

/* The x with A x = r that is smallest when each x is divided by its root; A has m rows of n and a known rank. Rows are brought to
   length 1 first: x = root A' y, where A A' y = r is solved by A A' = L D L' with the largest pivot first. Rows that vanish against
   the longest, or whose pivot vanishes because they repeat others, are left out. What is not finite in A or r makes every x NaN. */
static void least_norm(int m, int n, int rank_known, const double *restrict root, const double *restrict rows,
    const double *restrict r, double *restrict x)
{
    double a[LARGEST_A + 1], s[MOST_ROWS*MOST_ROWS + 1], y[MOST_ROWS + 1], scale[MOST_ROWS + 1];
    double longest = 0.0, most = 0.0, finite = 0.0;
    int order[MOST_ROWS + 1], from[MOST_ROWS + 1], to[MOST_ROWS + 1], rank = 0;
    for (int i = 0; i < m; i++) {
        order[i] = i;
        from[i] = n;
        to[i] = 0;
        for (int k = 0; k < n; k++) {
            a[i*n + k] = root[k]*rows[i*n + k];
            if (a[i*n + k] != 0.0) {
                from[i] = k < from[i] ? k : from[i];
                to[i] = k + 1;
            }
        }
        scale[i] = length(n, a + i*n);
        longest = scale[i] > longest ? scale[i] : longest;
        finite += 0.0*scale[i] + 0.0*r[i];
    }
    for (int i = 0; i < m; i++) {
        scale[i] = scale[i] > 1e-10*longest ? 1.0/scale[i] : 0.0;
        y[i] = scale[i]*r[i];
        for (int j = 0; j <= i; j++) {
            double sum = 0.0;
            for (int k = from[i] > from[j] ? from[i] : from[j]; k < to[i] && k < to[j]; k++)
                sum += a[i*n + k]*a[j*n + k];
            s[i*m + j] = s[j*m + i] = scale[i]*scale[j]*sum;
        }
    }
    for (; rank < rank_known; rank++) {
        int best = rank;
        for (int i = rank + 1; i < m; i++)
            if (s[order[i]*(m + 1)] > s[order[best]*(m + 1)])
                best = i;
        const int pivot = order[best];
        const double d = s[pivot*(m + 1)];
        if (rank == 0)
            most = d;
        if (!(d > 1e-12*most))
            break;
        order[best] = order[rank];
        order[rank] = pivot;
        for (int i = rank + 1; i < m; i++) {
            const int row = order[i];
            const double entry = s[row*m + pivot]/d;
            if (entry == 0.0)
                continue;
            y[row] -= entry*y[pivot];
            for (int j = rank + 1; j < m; j++)
                s[row*m + order[j]] -= entry*s[pivot*m + order[j]];
        }
    }
    for (int j = 0; j < n; j++)
        x[j] = finite;
    for (int i = rank - 1; i >= 0; i--) {
        const int row = order[i];
        for (int j = i + 1; j < rank; j++)
            y[row] -= s[row*m + order[j]]*y[order[j]];
        y[row] /= s[row*(m + 1)];
        for (int j = 0; j < n; j++)
            x[j] += root[j]*scale[row]*y[row]*a[row*n + j];
    }
}

#define NEAR 0.1                /* ratio of pivots below which stages are brought onto the constraints too */
#define WATCHED 0.3             /* ratio below which the next step takes its rates from `singular_rates` */
enum { HALVINGS = 10 };

static double largest(int n, const double *x)
{
    double most = 0.0;
    for (int i = 0; i < n; i++)
        if (!(fabs(x[i]) <= most))
            most = fabs(x[i]);
    return most;
}

/* Corrects q so that the loops are closed, then u so that they stay closed; in a singular position neither. What had to be done
   is left in the job. */
static int project(Job *job, double t, double *y, double *w, double small)
{
    double all[N_G*(1 + N_Q) + N_V*(1 + N_U) + 1], change[N_S + 1], *q = y, *u = y + N_Q;
    const double *g = all, *G = g + N_G, *v = G + N_G*N_Q, *J = v + N_V;
@SET@    job->externals->live = 0;
    job->moved = job->residual = 0.0;
    closure(t, q, u, job->p, job->c, w, all, job->externals);
    job->ratio = pivot_ratio(J);
    job->steady = steady_ratio(J);
    job->worst = 0;
    for (int i = 1; i < N_G; i++)
        if (fabs(g[i]) > fabs(g[job->worst]))
            job->worst = i;
    if (!(job->ratio > SINGULAR))
        return job->externals->failed ? EXTERNAL_FAILED : FINISHED;
    for (int n = 0; n < 4 && !(largest(N_G, g) < small); n++) {
        least_norm(N_G, N_Q, N_RG, job->root_q, G, g, change);
        job->moved += length(N_Q, change);
        for (int j = 0; j < N_Q; j++)
            q[j] -= change[j];
        closure(t, q, u, job->p, job->c, w, all, job->externals);
        if (n == 0) {
            job->ratio = pivot_ratio(J);
            job->steady = steady_ratio(J);
        }
    }
    job->residual = largest(N_G, g);
    least_norm(N_V, N_U, N_RV, job->root_u, J, v, change);
    for (int j = 0; j < N_U; j++)
        u[j] -= change[j];
    return job->externals->failed ? EXTERNAL_FAILED : FINISHED;
}

@CORRECTION@/* Accelerations by the parabola, line or constant through those of the last regular steps. */
static void extrapolate(const Job *job, double t, double *ud)
{
    enum { W = 1 + N_U };
    for (int j = 0; j < N_U; j++)
        ud[j] = 0.0;
    for (int i = 0; i < job->n_past; i++) {
        double share = 1.0;
        for (int k = 0; k < job->n_past; k++)
            if (k != i)
                share *= (t - job->past[k*W])/(job->past[i*W] - job->past[k*W]);
        for (int j = 0; j < N_U; j++)
            ud[j] += share*job->past[i*W + 1 + j];
    }
}

/* Rates near a singular position: the state is brought onto the constraints first. In it, accelerations are extrapolated. */
static int wary_rates(Job *job, double t, const double *y, double *k, double *w)
{
    double found[N_S + 1], state[N_S];
    singular_rates(t, y, y + N_Q, job->p, job->c, w, found, job->externals);
    if (found[N_S] > SINGULAR && found[N_S] < NEAR) {
        const int live = job->externals->live;
        memcpy(state, y, sizeof state);
        const int failed = project(job, t, state, w, TIGHT);
        if (failed)
            return failed;
        job->externals->live = live;
        singular_rates(t, state, state + N_Q, job->p, job->c, w, found, job->externals);
    }
    if (!(found[N_S] > SINGULAR) && job->n_past > 0)
        extrapolate(job, t, found + N_Q);
    memcpy(k, found, N_S*sizeof *k);
    return job->externals->failed ? EXTERNAL_FAILED : FINISHED;
}

/* Keeps a book of visits near singular positions: when each was nearest, and the ratio of pivots there. */
static void visit(Job *job, double t)
{
    const double ratio = job->ratio;
    job->wary = ratio < WATCHED || job->steady < WATCHED;
    if (ratio < NEAR) {
        if (ratio < job->visit_ratio) {
            job->visit_time = t;
            job->visit_ratio = ratio;
        }
    } else if (job->visit_ratio < NEAR) {
        if (job->n_passages < job->most_passages) {
            job->passages[2*job->n_passages] = job->visit_time;
            job->passages[2*job->n_passages + 1] = job->visit_ratio;
        }
        job->n_passages++;
        job->visit_ratio = 1.0;
    }
}

/* Rates from which accelerations are extrapolated: those of the last three regular steps, or of the start. */
static void remember(Job *job, double t, const double *k)
{
    enum { W = 1 + N_U };
    if (job->n_past == 3)
        memmove(job->past, job->past + W, 2*W*sizeof *job->past);
    else
        job->n_past++;
    double *last = job->past + (job->n_past - 1)*W;
    last[0] = t;
    memcpy(last + 1, k + N_Q, N_U*sizeof *k);
}

/* The end of a step. */
static void accept(Job *job, double t, const double *k)
{
    if (job->ratio > SINGULAR)
        remember(job, t, k);
    visit(job, t);
}

/* The start of a run: is it near a singular position? */
static int begin(Job *job, double *w)
{
    double all[N_G*(1 + N_Q) + N_V*(1 + N_U) + 1];
    const double t = 0.0, *y = job->y;
@SET@    closure(t, y, y + N_Q, job->p, job->c, w, all, job->externals);
    job->ratio = pivot_ratio(all + N_G*(1 + N_Q) + N_V);
    job->steady = steady_ratio(all + N_G*(1 + N_Q) + N_V);
    visit(job, t);
    return job->externals->failed ? EXTERNAL_FAILED : FINISHED;
}

