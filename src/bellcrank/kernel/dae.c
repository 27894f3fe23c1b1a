/* ---- closed loops by a method for differential-algebraic equations: M u' = f + J' lambda with g = 0 and v = J u +
   b = 0 */

#include "tables/dae.h"
#include "tables/half_explicit.h"

/* T with J T = 0, N_U rows, and c with J c = right; returns the number of columns of T. */
static int basis_of(GIVEN const real *restrict rows, const real *restrict right, real *restrict T, real *restrict c)
{
    PIVOTS(P, N_V, N_U);
    put_rows(HERE &P, N_V, NULL, N_U, NULL, rows, right, 0);
    eliminate(&P, N_RV, USUAL_RATIO, SINGULAR);
    return null_basis(HERE &P, T, c);
}

/* Solves A x = b by elimination with pivots from columns; x replaces b, NaN if A is singular. */
static void solve_any(int n, real *restrict a, real *restrict b)
{
    for (int k = 0; k < n; k++) {
        int row = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(a[i*n + k]) > fabs(a[row*n + k]))
                row = i;
        for (int j = 0; j < n && row != k; j++) {
            const real old = a[k*n + j];
            a[k*n + j] = a[row*n + j];
            a[row*n + j] = old;
        }
        const real old = b[k];
        b[k] = b[row];
        b[row] = old;
        if (!(fabs(a[k*n + k]) > 0.0)) {
            for (int i = 0; i < n; i++)
                b[i] = NAN;
            return;
        }
        for (int i = k + 1; i < n; i++) {
            const real factor = a[i*n + k]/a[k*n + k];
            if (factor == 0.0)
                continue;
            for (int j = k + 1; j < n; j++)
                a[i*n + j] -= factor*a[k*n + j];
            b[i] -= factor*b[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++)
            b[k] -= a[k*n + j]*b[j];
        b[k] /= a[k*n + k];
    }
}

/* The system M x = force + J' lambda, J x = right prepared for several right-hand sides by M = L D L' and S = J M^-1
   J', where M is regular and multipliers are fewer than what they leave free, or M is diagonal. */
#define MULTIPLIERS_FIRST (DIAGONAL || N_U - N_RV >= N_RV)
enum { UNDECIDED, BY_MULTIPLIERS, BY_NULL_SPACE };

typedef struct {
    int ready, rank;
    int *order;                 /* of pivots of S */
    real *L, *one_by_D, *Y, *S, *scale;
} Factors;
#define FACTORS(F) ARRAY(int, pivots, N_V); ARRAY(real, factors, N_U*(N_U + 1) + N_V*(N_U + N_V + 1)); \
    Factors F = {0, 0, pivots, factors, factors + N_U*N_U, factors + N_U*(N_U + 1), factors + N_U*(N_U + 1) + N_V*N_U, \
        factors + N_U*(N_U + 1) + N_V*(N_U + N_V)}

/* L, D of M; 0 if M is singular: a pivot vanishes against its own inertia. */
static int factor_mass(GIVEN const real *restrict mass, Factors *restrict F)
{
    if (DIAGONAL) {
        for (int i = 0; i < N_U; i++) {
            const real m = mass[i*(i + 1)/2 + i];
            if (!(m > 0.0))
                return 0;
            F->one_by_D[i] = 1.0/m;
        }
        return 1;
    }
    for (int i = 0; i < N_U; i++) {
        const real *m = mass + i*(i + 1)/2;
        real *row = F->L + i*N_U, d = m[i];
        const int from = MASS_FROM[i];
        for (int j = from; j < i; j++) {
            real sum = m[j];
            for (int k = from > MASS_FROM[j] ? from : MASS_FROM[j]; k < j; k++)
                sum -= row[k]*F->L[j*N_U + k];
            row[j] = sum;
        }
        for (int j = from; j < i; j++) {
            const real entry = row[j]*F->one_by_D[j];
            d -= entry*row[j];
            row[j] = entry;
        }
        if (!(d > DAE_REPEATS*m[i]))
            return 0;
        F->one_by_D[i] = 1.0/d;
    }
    return 1;
}

/* b := M^-1 b */
static void by_mass(GIVEN const Factors *restrict F, real *restrict b)
{
    if (DIAGONAL) {
        for (int i = 0; i < N_U; i++)
            b[i] *= F->one_by_D[i];
        return;
    }
    for (int i = 0; i < N_U; i++)
        for (int j = MASS_FROM[i]; j < i; j++)
            b[i] -= F->L[i*N_U + j]*b[j];
    for (int i = 0; i < N_U; i++)
        b[i] *= F->one_by_D[i];
    for (int i = N_U - 1; i >= 0; i--)
        for (int j = MASS_FROM[i]; j < i; j++)
            b[j] -= F->L[i*N_U + j]*b[i];
}

static void factor(GIVEN Job *job, const real *restrict all, Factors *restrict F)
{
    const real *J = all + AT_J;
    real most = 0.0;
    F->ready = MULTIPLIERS_FIRST && job->way != BY_NULL_SPACE && factor_mass(HERE all + AT_M, F);
    if (job->way == UNDECIDED)
        job->way = F->ready ? BY_MULTIPLIERS : BY_NULL_SPACE;
    if (!F->ready)
        return;
    for (int r = 0; r < N_V; r++) {
        F->order[r] = r;
        if (DIAGONAL)
            for (int k = ROW_AT[r]; k < ROW_AT[r + 1]; k++)
                F->Y[r*N_U + ROW_COLUMN[k]] = J[r*N_U + ROW_COLUMN[k]]*F->one_by_D[ROW_COLUMN[k]];
        else {
            memcpy(F->Y + r*N_U, J + r*N_U, N_U*sizeof *J);
            by_mass(HERE F, F->Y + r*N_U);
        }
        for (int s = 0; s <= r; s++) {
            real sum = 0.0;
            if (DIAGONAL) /* columns that both rows have */
                for (int k = PAIR_AT[r*(r + 1)/2 + s]; k < PAIR_AT[r*(r + 1)/2 + s + 1]; k++)
                    sum += J[r*N_U + PAIR_COLUMN[k]]*F->Y[s*N_U + PAIR_COLUMN[k]];
            else
                for (int k = ROW_AT[r]; k < ROW_AT[r + 1]; k++)
                    sum += J[r*N_U + ROW_COLUMN[k]]*F->Y[s*N_U + ROW_COLUMN[k]];
            F->S[r*N_V + s] = sum;
            F->S[s*N_V + r] = sum;
        }
        F->scale[r] = F->S[r*(N_V + 1)] > 0.0 ? 1.0/sqrt(F->S[r*(N_V + 1)]) : 0.0;
    }
    for (int r = 0; r < N_V; r++)
        for (int s = 0; s < N_V; s++)
            F->S[r*N_V + s] *= F->scale[r]*F->scale[s];
    for (F->rank = 0; F->rank < N_RV; F->rank++) {
        int best = F->rank;
        for (int i = F->rank + 1; i < N_V; i++)
            if (F->S[F->order[i]*(N_V + 1)] > F->S[F->order[best]*(N_V + 1)])
                best = i;
        const int pivot = F->order[best];
        const real d = F->S[pivot*(N_V + 1)];
        most = F->rank == 0 ? d : most;
        if (!(d > DAE_REPEATS*most))
            break;
        F->order[best] = F->order[F->rank];
        F->order[F->rank] = pivot;
        for (int i = F->rank + 1; i < N_V; i++) {
            const int row = F->order[i];
            const real entry = F->S[row*N_V + pivot]/d;
            for (int j = F->rank + 1; j < N_V && entry != 0.0; j++)
                F->S[row*N_V + F->order[j]] -= entry*F->S[pivot*N_V + F->order[j]];
        }
    }
}

/* x by multipliers. */
static void by_multipliers(GIVEN const Factors *restrict F, const real *restrict J, const real *force,
    const real *restrict right, real *restrict x)
{
    ARRAY(real, y, N_V);
    for (int j = 0; j < N_U; j++)
        x[j] = force ? force[j] : 0.0;
    if (force)
        by_mass(HERE F, x);
    for (int r = 0; r < N_V; r++) {
        y[r] = right[r];
        for (int k = ROW_AT[r]; k < ROW_AT[r + 1] && force; k++)
            y[r] -= J[r*N_U + ROW_COLUMN[k]]*x[ROW_COLUMN[k]];
        y[r] *= F->scale[r];
    }
    for (int k = 0; k < F->rank; k++) {
        const int pivot = F->order[k];
        for (int i = k + 1; i < F->rank && i < N_V; i++) /* rank <= N_V, which compilers do not see */
            y[F->order[i]] -= F->S[F->order[i]*N_V + pivot]/F->S[pivot*(N_V + 1)]*y[pivot];
    }
    for (int k = F->rank - 1; k >= 0; k--) {
        const int row = F->order[k];
        for (int i = k + 1; i < F->rank && i < N_V; i++)
            y[row] -= F->S[row*N_V + F->order[i]]*y[F->order[i]];
        y[row] /= F->S[row*(N_V + 1)];
    }
    for (int k = 0; k < F->rank; k++) {
        const int row = F->order[k];
        const real multiplier = F->scale[row]*y[row];
        if (DIAGONAL)
            for (int n = ROW_AT[row]; n < ROW_AT[row + 1]; n++)
                x[ROW_COLUMN[n]] += multiplier*F->Y[row*N_U + ROW_COLUMN[n]];
        else
            for (int j = 0; j < N_U; j++)
                x[j] += multiplier*F->Y[row*N_U + j];
    }
}

/* x of M x = force + J' lambda with rows x = right, on null spaces: all is what `system` stored, J its rows; force
   may be NULL for zero, rows for J. */
static void on_null_space(GIVEN const real *restrict all, const real *force, const real *rows,
    const real *restrict right, real *restrict x)
{
    ARRAY(real, T, N_U*N_U);
    ARRAY(real, left, N_U*N_U);
    ARRAY(real, c, N_U);
    ARRAY(real, unused, N_U);
    ARRAY(real, MT, N_U*N_U);
    ARRAY(real, rest, N_U);
    ARRAY(real, K, N_U*N_U);
    ARRAY(real, b, N_U);
    const int p = basis_of(HERE rows ? rows : all + AT_J, right, T, c);
    const real *L = rows ? left : T;
    if (rows && basis_of(HERE all + AT_J, right, left, unused) != p) {
        for (int i = 0; i < N_U; i++)
            x[i] = NAN;
        return;
    }
    for (int i = 0; i < N_U; i++)
        rest[i] = force ? force[i] : 0.0;
    by_inertia(HERE all + AT_M, p, T, c, MT, rest);
    for (int i = 0; i < p; i++) {
        b[i] = 0.0;
        for (int k = 0; k < N_U; k++)
            b[i] += L[k*p + i]*rest[k];
        for (int j = 0; j < p; j++) {
            K[i*p + j] = 0.0;
            for (int k = 0; k < N_U; k++)
                K[i*p + j] += L[k*p + i]*MT[k*p + j];
        }
    }
    solve_any(p, K, b);
    for (int i = 0; i < N_U; i++) {
        x[i] = c[i];
        for (int j = 0; j < p; j++)
            x[i] += T[i*p + j]*b[j];
    }
}

static void motion(GIVEN const Factors *F, const real *restrict all, const real *force, const real *restrict right,
    real *restrict x)
{
    if (F->ready)
        by_multipliers(HERE F, all + AT_J, force, right, x);
    else
        on_null_space(HERE all, force, NULL, right, x);
}

/* Accelerations without constraints. */
static void free_motion(GIVEN const real *restrict all, real *restrict x)
{
    ARRAY(real, M, N_U*N_U);
    for (int i = 0; i < N_U; i++) {
        x[i] = all[AT_F + i];
        for (int j = 0; j <= i; j++)
            M[i*N_U + j] = M[j*N_U + i] = all[AT_M + i*(i + 1)/2 + j];
    }
    solve_any(N_U, M, x);
}

/* Rates of a method. Residuals at the start of a step are frozen for its stages. */
static int dae_rates(GIVEN Job *job, real t, const real *y, real *k, real *w)
{
    ARRAY(real, all, N_SYSTEM);
    ARRAY(real, right, N_V);
    ARRAY(real, x, N_U);
    real *gamma = all + AT_GAMMA, *v = all + AT_V;
    FACTORS(F);
    system_at(t, y, y + N_Q, job->p, job->c, w, all, job->externals);
    factor(HERE job, all, &F);
    memcpy(k, all, N_Q*sizeof *k);
    if (job->fresh) {
        job->fresh = 0;
        for (int i = 0; i < N_V; i++) {
            job->frozen[i] = i < N_PAIRED ? all[AT_G + i] : 0.0;
            job->frozen[N_V + i] = v[i];
        }
    }
    if (job->dae == DLMM) {
        for (int i = 0; i < N_V; i++) {
            gamma[i] -= job->frozen[N_V + i]/job->h;
            right[i] = -(v[i] + job->frozen[i]/job->h);
        }
        motion(HERE &F, all, NULL, right, x);
        shift(HERE job, t, y, x, 1.0, k, w);
    } else if (job->dae == BAUMGARTE) {
        for (int i = 0; i < N_V; i++)
            gamma[i] -= 2*job->alpha*v[i];
        add_g(HERE all, -job->beta*job->beta, gamma);
    }
    if (job->free_fall)
        free_motion(HERE all, k + N_Q);
    else
        motion(HERE &F, all, all + AT_F, gamma, k + N_Q);
    if (job->dae == STABILISED) {
        memset(right, 0, N_V*sizeof *right);
        add_g(HERE all, 1.0, right);
        motion(HERE &F, all, NULL, right, x);
        shift(HERE job, t, y, x, -job->gamma, k, w);
        motion(HERE &F, all, NULL, v, x);
        for (int j = 0; j < N_U; j++)
            k[N_Q + j] -= job->gamma*x[j];
    }
    return job->externals->failed ? EXTERNAL_FAILED : FINISHED;
}

/* The correction that a method makes after a step. */
static int correct(GIVEN Job *job, real t, real *y, real *w)
{
    ARRAY(real, all, N_SYSTEM);
    ARRAY(real, right, N_V);
    ARRAY(real, x, N_U);
    ARRAY(real, q, N_Q);
    FACTORS(F);
    if (set_inputs(HERE job, t, w))
        return INPUT_FAILED;
    job->externals->live = 0;
    unit_sizes(HERE job, t, y, w);
    if (job->dae != POST && job->dae != PROJECTION)
        return job->externals->failed ? EXTERNAL_FAILED : FINISHED;
    system_at(t, y, y + N_Q, job->p, job->c, w, all, job->externals);
    factor(HERE job, all, &F);
    for (int n = 0; n < (job->dae == POST ? 1 : DAE_NEWTON) && !(residual(HERE all) < DAE_CLOSED); n++) {
        memset(right, 0, N_V*sizeof *right);
        add_g(HERE all, 1.0, right);
        motion(HERE &F, all, NULL, right, x);
        memcpy(q, y, N_Q*sizeof *q);
        shift(HERE job, t, q, x, -1.0, y, w);
        system_at(t, y, y + N_Q, job->p, job->c, w, all, job->externals);
        factor(HERE job, all, &F);
    }
    motion(HERE &F, all, NULL, all + AT_V, x);
    for (int j = 0; j < N_U; j++)
        y[N_Q + j] -= x[j];
    return job->externals->failed ? EXTERNAL_FAILED : FINISHED;
}

/* Inputs at the time of a stage. */
static int look(GIVEN Job *job, real t, real *w)
{
    if (set_inputs(HERE job, t, w))
        return INPUT_FAILED;
    job->externals->live = 0;
    return FINISHED;
}

static real stage_time(real place, real h, real t, real middle, real end)
{
    return place == 0.0 ? t : place == 0.5 ? middle : place == 1.0 ? end : t + place*h;
}

/* A half-explicit step: multipliers let the speeds of each following stage satisfy the constraints. */
static int half_explicit(GIVEN Job *job, real h, real t, real middle, real end, const real *y, real *next, real *w)
{
    const int stages = HALF_STAGES[job->method];
    const real *place = HALF_PLACES[job->method], *weight = HALF_WEIGHTS[job->method];
    ARRAY(real, all, N_SYSTEM);
    ARRAY(real, rows, N_G*(1 + N_Q) + N_V*(1 + N_U));
    ARRAY(real, state, N_S);
    ARRAY(real, after, N_S);
    ARRAY(real, x, N_U);
    real *v = rows + N_G*(1 + N_Q);
    memcpy(next, y, N_S*sizeof *state);
    memcpy(state, y, N_S*sizeof *state);
    for (int i = 0; i < stages; i++) {
        const int last = i == stages - 1;
        const real now = stage_time(place[i], h, t, middle, end);
        const real then = last ? end : stage_time(place[i + 1], h, t, middle, end);
        const real reach = last ? weight[i] : place[i + 1];
        int failed = look(HERE job, now, w);
        if (failed)
            return failed;
        system_at(now, state, state + N_Q, job->p, job->c, w, all, job->externals);
        for (int j = 0; j < N_Q; j++)
            next[j] += h*weight[i]*all[j];
        memcpy(after, last ? next : y, N_S*sizeof *after);
        for (int j = 0; j < N_Q && !last; j++)
            after[j] += h*reach*all[j];
        if ((failed = look(HERE job, then, w)))
            return failed;
        closure(then, after, after + N_Q, job->p, job->c, w, rows, job->externals);
        for (int j = 0; j < N_V; j++)
            v[j] = -v[j]/(h*reach);
        on_null_space(HERE all, all + AT_F, v + N_V, v, x);
        for (int j = 0; j < N_U; j++) {
            next[N_Q + j] += h*weight[i]*x[j];
            after[N_Q + j] += h*reach*x[j];
        }
        memcpy(state, after, N_S*sizeof *state);
    }
    return job->externals->failed ? EXTERNAL_FAILED : FINISHED;
}

/* A step of a method, with the correction that belongs to it. */
static int dae_step(GIVEN Job *job, real h, real t, real middle, real end, const real *y, const real *k,
    real *next, real *w)
{
    int failed = job->dae == HALF_EXPLICIT ? half_explicit(HERE job, h, t, middle, end, y, next, w)
                                           : advance(HERE job, h, t, middle, end, y, k, next, w);
    if (!failed && all_finite(HERE next))
        failed = correct(HERE job, end, next, w);
    job->fresh = 1;
    return failed;
}
