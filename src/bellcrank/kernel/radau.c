/* ---- stiff steps: Radau IIA (Hairer & Wanner, Solving Ordinary Differential Equations II, section IV.8) */

#include "tables/radau.h"
#define ROW (N_S + 1) /* of what is known of three stages */

/* The collocation polynomial of the last step at x of it, less the state at its end. */
static real beyond(const Work *a, int j, real x)
{
    return (x - 1.0)*(a->part[0][j] + (x - NODE[1])*(a->part[1][j] + (x - NODE[0])*a->part[2][j]));
}

/* Newton's method for the stages of a step, less the state: rates there are left in k, how it went in the memory. */
static int find_stages(GIVEN Job *job, real h, real *Z, real *w)
{
    Work *a = (Work *)job->work;
    Stiff *s = stiff_of(job);
    const real limit = fmax(10.0*ROUNDING/job->rtol, fmin(LEFT_OVER, sqrt(job->rtol)));
    ARRAY(real, weight, N_S);
    ARRAY(real, stage, N_S);
    ARRAY(real, W, 3*ROW);
    ARRAY(real, G, 3*ROW);
    real before = 0.0;
    int failed;
    s->turns = 0;
    s->theta = 0.0;
    s->slow = HOPELESS;
    if (!s->known && (failed = find_slopes(HERE job, job->t, job->y, job->k, w)))
        return failed;
    if (s->factored != h) {
        job->factors++;
        s->factored = h;
        if (factor_real(HERE s, REAL_VALUE/h) || factor_pair(HERE s, PAIR_VALUE[0]/h, PAIR_VALUE[1]/h)) {
            s->factored = 0.0;
            s->theta = 2.0;
            return FINISHED;
        }
    }
    find_weights(HERE job, job->y, job->y, weight);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < N_S; j++)
            Z[i*ROW + j] = s->polynomial ? beyond(a, j, 1.0 + NODE[i]*h/s->before) : 0.0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < N_S; j++)
            W[i*ROW + j] = TO[i][0]*Z[j] + TO[i][1]*Z[ROW + j] + TO[i][2]*Z[2*ROW + j];
    s->eta = pow(fmax(s->eta, ROUNDING), 0.8);
    for (; s->turns < NEWTON_TURNS; s->turns++) {
        real sum = 0.0;
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < N_S; j++)
                stage[j] = job->y[j] + Z[i*ROW + j];
            if ((failed = stage_rates(HERE job, job->t + NODE[i]*h, stage, a->k[i], w)))
                return failed;
        }
        for (int j = 0; j < N_S; j++) {
            for (int i = 0; i < 3; i++)
                G[i*ROW + j] = TO[i][0]*a->k[0][j] + TO[i][1]*a->k[1][j] + TO[i][2]*a->k[2][j];
            G[j] -= REAL_VALUE/h*W[j];
            G[ROW + j] -= PAIR_VALUE[0]/h*W[ROW + j] - PAIR_VALUE[1]/h*W[2*ROW + j];
            G[2*ROW + j] -= PAIR_VALUE[0]/h*W[2*ROW + j] + PAIR_VALUE[1]/h*W[ROW + j];
        }
        s->solved += 1.0;
        solve_real(HERE s, G);
        solve_pair(HERE s, G + ROW, G + 2*ROW);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < N_S; j++) {
                sum += (G[i*ROW + j]/weight[j])*(G[i*ROW + j]/weight[j]);
                W[i*ROW + j] += G[i*ROW + j];
            }
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < N_S; j++)
                Z[i*ROW + j] = BACK[i][0]*W[j] + BACK[i][1]*W[ROW + j] + BACK[i][2]*W[2*ROW + j];
        const real size = sqrt(sum/(3.0*(N_S > 0 ? N_S : 1)));
        if (!isfinite(size)) {
            s->theta = size - size;
            return FINISHED;
        }
        if (s->turns > 0) {
            s->theta = size/before;
            const real rest = pow(s->theta, NEWTON_TURNS - 1 - s->turns);
            const real slow = s->theta < 1.0 ? rest/(1.0 - s->theta)*size/limit : HOPELESS;
            if (slow > 1.0) {
                s->slow = slow;
                return FINISHED;
            }
            s->eta = s->theta/(1.0 - s->theta);
        }
        if (s->eta*size < limit || size == 0.0) {
            s->turns++;
            s->slow = 0.0;
            return FINISHED;
        }
        before = size;
    }
    return FINISHED;
}

/* The error of a step to `next`: that of each state, and in all, against what is allowed. */
static int radau_error(GIVEN Job *job, real h, real *Z, const real *next, real *error, real *size, real *w)
{
    const Work *a = (const Work *)job->work;
    Stiff *s = stiff_of(job);
    ARRAY(real, weight, N_S);
    ARRAY(real, part, N_S);
    ARRAY(real, moved, N_S);
    ARRAY(real, rate, N_S);
    find_weights(HERE job, job->y, next, weight);
    for (int j = 0; j < N_S; j++) {
        part[j] = (ERROR_SHARE[0]*Z[j] + ERROR_SHARE[1]*Z[ROW + j] + ERROR_SHARE[2]*Z[2*ROW + j])/h;
        error[j] = job->k[j] + part[j];
    }
    solve_real(HERE s, error);
    *size = weighed_size(HERE error, weight);
    if (*size > 1.0 && (a->rejected || !s->polynomial)) {
        for (int j = 0; j < N_S; j++)
            moved[j] = job->y[j] + error[j];
        const int failed = stage_rates(HERE job, job->t, moved, rate, w);
        if (failed)
            return failed;
        for (int j = 0; j < N_S; j++)
            error[j] = rate[j] + part[j];
        solve_real(HERE s, error);
        *size = weighed_size(HERE error, weight);
    }
    told_errors(HERE job, error, weight);
    return FINISHED;
}

/* A step whose stages were not found is to be tried in another way. */
static int try_otherwise(GIVEN Job *job, real h, real *Z, real *w)
{
    Work *a = (Work *)job->work;
    Stiff *s = stiff_of(job);
    job->rejected++;
    job->failures++;
    a->rejected = 1;
    s->eta = 1.0;
    a->h = h;
    if (!isfinite(s->theta)) {
        for (int j = 0; j < N_S; j++)
            job->bad[j] = job->y[j] + Z[2*ROW + j];
        a->h = ++a->tenths <= TENTHS ? TENTH*h : 0.0;
        s->known = 0;
    } else if (!s->fresh)
        s->known = 0;
    else if (!s->middle && s->theta < 2.0) { /* once more with slopes at the second stage */
        ARRAY(real, state, N_S);
        ARRAY(real, rate, N_S);
        for (int j = 0; j < N_S; j++)
            state[j] = job->y[j] + Z[ROW + j];
        const int failed = stage_rates(HERE job, job->t + NODE[1]*h, state, rate, w);
        s->middle = 1;
        return failed ? failed : find_slopes(HERE job, job->t + NODE[1]*h, state, rate, w);
    } else if (s->slow < HOPELESS)
        a->h = h*fmax(0.3, 0.8*pow(fmin(20.0, s->slow), -1.0/(10 - s->turns)));
    else
        a->h = 0.5*h;
    return FINISHED;
}

/* One step that is accepted; -1 if it comes near a singular position. */
static int radau_step(GIVEN Job *job, real *w)
{
    Work *a = (Work *)job->work;
    Stiff *s = stiff_of(job);
    ARRAY(real, next, N_S);
    ARRAY(real, error, N_S);
    ARRAY(real, Z, 3*ROW);
    ARRAY(real, loose, N_S); /* before loops are closed */
    real size;
    int failed;
    memset(Z, 0, 3*ROW*sizeof *Z); /* which compilers would warn of */
    if (!a->under_way) {
        if ((failed = begin_stretch(HERE job, FIRST_ORDER, w)))
            return failed;
        s->known = s->fresh = s->middle = s->polynomial = 0;
        s->before = s->factored = 0.0;
        s->eta = 1.0;
        a->memory = PATIENT;
        begin_trial(HERE job, 0);
    }
    for (;;) {
        real h, t;
        if ((failed = next_step(job, &h, &t)))
            return failed;
        if ((failed = find_stages(HERE job, h, Z, w)))
            return failed;
        if (s->slow != 0.0) {
            if ((failed = try_otherwise(HERE job, h, Z, w)))
                return failed;
            continue;
        }
        for (int j = 0; j < N_S; j++)
            next[j] = job->y[j] + Z[2*ROW + j];
        if ((failed = radau_error(HERE job, h, Z, next, error, &size, w)))
            return failed;
        const real safety = SAFETY*17.0/(16.0 + s->turns);
        if (!(size <= 1.0) || !all_finite(HERE next)) {
            reject_step(HERE job, h, safety, STIFF_EXPONENT, size, next, error);
            continue;
        }
        memcpy(loose, next, N_S*sizeof *loose);
        if ((failed = admit_step(HERE job, h, t, next, a->k[2], w)) > 0 && job->near)
            return -1;
        if (failed > 0)
            continue;
        if (failed)
            return -failed;
        const real share = stiff_growth(job, h, safety, STIFF_EXPONENT, STIFF_GROWTH, size);
        s->polynomial = 1;
        for (int j = 0; j < N_S; j++) {
            const real x = (Z[ROW + j] - Z[2*ROW + j])/(NODE[1] - 1.0), y = (Z[j] - Z[ROW + j])/(NODE[0] - NODE[1]);
            const real z = (y - x)/(NODE[0] - 1.0);
            a->part[0][j] = x;
            a->part[1][j] = z;
            a->part[2][j] = z - (y - Z[j]/NODE[0])/NODE[1];
        }
        memcpy(a->from, loose, N_S*sizeof *loose);
        if (s->theta > KEPT || s->middle)
            s->known = 0;
        s->fresh = s->middle = 0;
        a->h = !s->known || share < 1.0 || share > STEADY ? h*share : h;
        a->was_implicit = 1;
        note_step(job, h);
        if ((failed = take_step(HERE job, t, next, NULL, w)))
            return failed;
        judge_step(HERE job, h);
        return FINISHED;
    }
}

