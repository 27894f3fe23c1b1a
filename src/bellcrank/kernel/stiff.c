#include "stiff_systems.c"

/* ---- what stiff methods share: slopes of the rates, what they cost, and how steps grow */

/* The rate of the fastest mode: by how much the slopes lengthen a vector, in the mean of the last of many times. */
static real fastest_mode(GIVEN const Stiff *s)
{
    ARRAY(real, x, N_S + 1);
    ARRAY(real, y, N_S + 1);
    real sum = 0.0;
    for (int i = 0; i < N_S; i++)
        x[i] = i % 2 ? -1.0 : 1.0;
    for (int turn = 0; turn < TURNS_OF_RATE; turn++) {
        real square = 0.0;
        for (int i = 0; i < N_S; i++) {
            y[i] = 0.0;
            for (int j = 0; j < N_S; j++)
                y[i] += s->slopes[i*N_S + j]*x[j];
            square += y[i]*y[i];
        }
        if (!(square > 0.0))
            return 0.0;
        if (2*turn >= TURNS_OF_RATE)
            sum += 0.5*log(square);
        for (int i = 0; i < N_S; i++)
            x[i] = y[i]/sqrt(square);
    }
    return exp(sum/(TURNS_OF_RATE - TURNS_OF_RATE/2));
}

#if HAS_SLOPES
/* Slopes of the rates at y that the program knows; is each column known? */
static int known_slopes(GIVEN Job *job, real t, const real *y, int *known, real *w)
{
    Stiff *s = stiff_of(job);
    ARRAY(real, found, N_SLOPES + 1);
    memcpy(known, SLOPED, N_S*sizeof *known);
    if (set_inputs(HERE job, t, w))
        return INPUT_FAILED;
    job->externals->live = 0;
    slopes(t, y, y + N_Q, job->p, job->c, w, found, job->externals);
    memset(s->slopes, 0, (N_S*N_S + 1)*sizeof *s->slopes);
    for (int i = 0; i < N_SLOPES; i++) {
        s->slopes[SLOPE_PLACE[i]] = found[i];
        if (!isfinite(found[i]))
            known[SLOPE_COLUMN[i]] = 0;
    }
    return job->externals->failed ? EXTERNAL_FAILED : FINISHED;
}

#endif

/* Slopes of the rates, which are k at y: columns that the program does not know by differences. */
static int find_slopes(GIVEN Job *job, real t, const real *y, const real *k, real *w)
{
    Stiff *s = stiff_of(job);
    ARRAY(real, moved, N_S);
    ARRAY(real, rate, N_S);
    ARRAY(int, known, N_S + 1);
    memset(known, 0, (N_S + 1)*sizeof *known);
    memcpy(moved, y, N_S*sizeof *moved);
    s->usual = !job->wary && !(MODEL_HAS(CORRECTION) && job->staged);
#if HAS_SLOPES
    const Work *a = (const Work *)job->work;
    if (MODEL_HAS(SLOPES) && s->usual) {
        const int failed = known_slopes(HERE job, t < a->first ? a->first : t > a->last ? a->last : t, y, known, w);
        if (failed)
            return failed;
    }
#endif
    ARRAY(real, again, N_S); /* what routines remember has changed since */
    int same = 1;
    for (int j = 0; j < N_S; j++)
        same = same && known[j];
    if (REMEMBERS && !same) {
        const int failed = stage_rates(HERE job, t, y, again, w);
        if (failed)
            return failed;
        k = again;
    }
    for (int c = 0; c < N_S; c++) {
        const int j = STATE_ORDER[c];
        if (known[j])
            continue;
        moved[j] += DIFFERENCE*fmax(fabs(y[j]), fmax(job->atol[j]/job->rtol, LEAST_MOVED));
        const int failed = stage_rates(HERE job, t, moved, rate, w);
        if (failed)
            return failed;
        for (int i = 0; i < N_S; i++)
            s->slopes[i*N_S + c] = (rate[STATE_ORDER[i]] - k[STATE_ORDER[i]])/(moved[j] - y[j]);
        moved[j] = y[j];
    }
    job->slopes++;
    s->known = s->fresh = 1;
    s->factored = 0.0;
    if (job->look == 2) {
        s->fastest = fastest_mode(HERE s);
        if (!(s->first_fastest > 0.0))
            s->first_fastest = s->fastest;
    }
    return FINISHED;
}

/* What a run has cost so far, in evaluations of rates. */
static real spent_so_far(GIVEN const Job *job, const Stiff *s)
{
    return (real)job->evaluations + SLOPES_COST*(real)job->slopes + FACTOR_COST*(real)job->factors
        + SOLVE_COST*s->solved;
}

static void begin_trial(GIVEN Job *job, int tried)
{
    Stiff *s = stiff_of(job);
    s->tried = tried;
    s->gained = 0.0;
    s->spent = spent_so_far(HERE job, s);
}

/* After a step of a method that may be left: would explicit ones, held by the fastest mode, come on sooner? The first
   steps of a stretch, which grow, do not count. */
static void judge_step(GIVEN Job *job, real h)
{
    Stiff *s = stiff_of(job);
    s->gained += h;
    if (job->look != 2 || ++s->tried % TRIAL_STEPS != 0)
        return;
    const real cost = spent_so_far(HERE job, s) - s->spent;
    if (s->tried > TRIAL_STEPS && SOONER*s->gained*s->fastest < job->pace*s->first_fastest*cost) {
        job->held = 0;
        job->backs++;
        job->went_back = job->t;
        s->first_fastest = 0.0;
    }
    begin_trial(HERE job, s->tried);
}

/* By how much the next step may be longer after one that is accepted; it predicts from the step before, too. */
static real stiff_growth(Job *job, real h, real safety, real exponent, real growth, real size)
{
    Work *a = (Work *)job->work;
    Stiff *s = stiff_of(job);
    const real small = fmax(size, SMOOTH);
    real share = safety*pow(small, -1.0/exponent);
    if (s->before > 0.0)
        share = fmin(share, SAFETY*h/s->before*pow(small, -2.0/exponent)*pow(a->memory, 1.0/exponent));
    const real most = a->rejected ? 1.0 : growth;
    a->memory = fmax(size, PATIENT);
    a->rejected = 0;
    s->before = h;
    return share < SHRINK ? SHRINK : share < most ? share : most;
}

