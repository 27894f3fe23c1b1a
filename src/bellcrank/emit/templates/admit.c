/* ---- closed loops: a state is brought onto the constraints by the smallest change */

static double length(int n, const double *x)
{
    double sum = 0.0;
    for (int j = 0; j < n; j++)
        sum += x[j]*x[j];
    return sqrt(sum);
}

/* The smallest x with A x = r; A has m rows of n, which are brought to length 1 first. x = A' y, where A A' y = r is solved
   by A A' = L D L' with the largest pivot first. Rows that vanish against the longest, or whose pivot vanishes because they
   repeat others, are left out. What is not finite in A or r makes every x NaN. */
static void least_norm(int m, int n, const double *restrict a, const double *restrict r, double *restrict x)
{
    double s[N_V*N_V + 1], y[N_V + 1], scale[N_V + 1], longest = 0.0, largest = 0.0, finite = 0.0;
    int order[N_V + 1], rank = 0;
    for (int i = 0; i < m; i++) {
        order[i] = i;
        scale[i] = length(n, a + i*n);
        longest = scale[i] > longest ? scale[i] : longest;
        finite += 0.0*scale[i] + 0.0*r[i];
    }
    for (int i = 0; i < m; i++) {
        scale[i] = scale[i] > 1e-10*longest ? 1.0/scale[i] : 0.0;
        y[i] = scale[i]*r[i];
        for (int j = 0; j <= i; j++) {
            double sum = 0.0;
            for (int k = 0; k < n; k++)
                sum += a[i*n + k]*a[j*n + k];
            s[i*m + j] = s[j*m + i] = scale[i]*scale[j]*sum;
        }
    }
    for (; rank < m; rank++) {
        int best = rank;
        for (int i = rank + 1; i < m; i++)
            if (s[order[i]*(m + 1)] > s[order[best]*(m + 1)])
                best = i;
        const int pivot = order[best];
        const double d = s[pivot*(m + 1)];
        if (rank == 0)
            largest = d;
        if (!(d > 1e-12*largest))
            break;
        order[best] = order[rank];
        order[rank] = pivot;
        for (int i = rank + 1; i < m; i++) {
            const int row = order[i];
            const double entry = s[row*m + pivot]/d;
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
            x[j] += scale[row]*y[row]*a[row*n + j];
    }
}

static int closed(const double *g)
{
    for (int i = 0; i < N_G; i++)
        if (!(fabs(g[i]) < 1e-13))
            return 0;
    return 1;
}

/* Corrects q so that the loops are closed, then u so that they stay closed. A correction that is large against what a step
   moves means that they cannot be. */
static int admit(Job *job, double t, double *y, double *w)
{
    double all[N_G*(1 + N_Q) + N_V*(1 + N_U) + 1], change[N_S + 1], *q = y, *u = y + N_Q;
    const double *g = all, *G = g + N_G, *v = G + N_G*N_Q, *J = v + N_V;
@SET@    job->externals->live = 0;
    job->moved = 0.0;
    closure(t, q, u, job->p, job->c, w, all, job->externals);
    for (int n = 0; n < 4 && !closed(g); n++) {
        least_norm(N_G, N_Q, G, g, change);
        job->moved += length(N_Q, change);
        for (int j = 0; j < N_Q; j++)
            q[j] -= change[j];
        closure(t, q, u, job->p, job->c, w, all, job->externals);
    }
    least_norm(N_V, N_U, J, v, change);
    for (int j = 0; j < N_U; j++)
        u[j] -= change[j];
    if (job->externals->failed)
        return EXTERNAL_FAILED;
    if (job->moved > 0.1*job->h*length(N_U, u) + 1e-6)
        return NOT_CLOSED;
    return all_finite(y) ? FINISHED : NOT_FINITE;
}

