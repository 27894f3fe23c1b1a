/* ---- runs whose method chooses its steps: rows lie within them, on the method's own interpolation */

#include "tables/control.h"
#include "tables/embedded.h"

typedef struct Work {
    ROWS(real, k, MOST_STAGES, N_S); /* rates of the stages of the last step tried */
    FIELD(real, from, N_S);         /* start of the last step ... */
    ROWS(real, part, MOST_COEFFICIENTS, N_S); /* ... and what states within it follow from */
    real t, length;                 /* when it began, and its length */
    real h;                         /* the next step */
    real memory;                    /* error of the last step */
    real first, end, last;          /* the stretch: between the first and the last inputs are read */
    int rejected, under_way;        /* was a step rejected that is tried again? is there a stretch? */
    int tenths, halvings;           /* of the present step: so often it was not finite; loops asked for a shorter one */
    int implicit, was_implicit;     /* is the method a stiff one, and was it in the last step? */
    FIELD(real, stage, N_S);        /* the last but one, at the end of the step ... */
    real ratio;                     /* of pivots at the beginning of a step */
    int order;                      /* that chooses the first step of a stretch */
    int held, free;                 /* ... from which steps are counted that a fast mode held, and those it did not */
    real gained;                    /* the length of those held */
    int small;                      /* is there a group of states for which atol would be too large? */
} Work;

static int stage_rates(GIVEN Job *job, real t, const real *y, real *k, real *w)
{
    const Work *a = (const Work *)job->work;
    job->evaluations++;
    return rates(HERE job, 0, t < a->first ? a->first : t > a->last ? a->last : t, y, k, w);
}

/* The state y, and h times a sum of rates. */
static void moved_by(GIVEN const Work *a, const real *weights, int n, real h, const real *y, real *to)
{
    ARRAY(real, sum, N_S);
    for (int j = 0; j < N_S; j++)
        sum[j] = weights[0]*a->k[0][j];
    for (int i = 1; i < n; i++)
        if (weights[i] != 0.0)
            for (int j = 0; j < N_S; j++)
                sum[j] += weights[i]*a->k[i][j];
    for (int j = 0; j < N_S; j++)
        to[j] = y[j] + h*sum[j];
}

/* The absolute error that a state may have: as told, or what is usual, but not more than a small motion allows. */
static real absolute_error(const Job *job, int j)
{
    const int64_t group = job->groups[j];
    const real largest = group >= 0 ? job->largest[group] : 0.0;
    return largest > 0.0 ? fmin(job->atol[j], job->rtol*largest) : job->atol[j];
}

/* Notes how large the states of each unit were so far, with what a time h makes of them: is one of these so small that
   the usual absolute error would be too large for it? */
static void note_sizes(GIVEN Job *job, real h)
{
    Work *a = (Work *)job->work;
    a->small = 0;
    for (int j = 0; job->groups && j < N_S; j++)
        if (job->groups[j] >= 0) {
            real *largest = &job->largest[job->groups[j]];
            *largest = fmax(*largest, fmax(fabs(job->y[j]), fabs(h*job->k[j])));
        }
    for (int j = 0; job->groups && j < N_S; j++)
        if (job->groups[j] >= 0 && !(job->rtol*job->largest[job->groups[j]] >= job->atol[j]))
            a->small = 1;
}

static void find_weights(GIVEN const Job *job, const real *y, const real *next, real *weight)
{
    const Work *a = (const Work *)job->work;
    for (int j = 0; j < N_S; j++) {
        const real size = fmax(fabs(y[j]), fabs(next[j]));
        weight[j] = (a->small ? absolute_error(job, j) : job->atol[j])
            + fmax(job->rtol*fmin(size, job->caps[j]), FINEST*size);
    }
}

static real weighed_size(GIVEN const real *x, const real *weight)
{
    real sum = 0.0;
    for (int j = 0; j < N_S; j++)
        sum += (x[j]/weight[j])*(x[j]/weight[j]);
    return N_S > 0 ? sqrt(sum/(real)(N_S > 0 ? N_S : 1)) : 0.0;
}

/* The first step of a stretch (Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I, section II.4). */
static int first_step(GIVEN Job *job, int order, real *w)
{
    Work *a = (Work *)job->work;
    ARRAY(real, weight, N_S);
    ARRAY(real, moved, N_S);
    ARRAY(real, k, N_S);
    const real longest = a->end - job->t;
    find_weights(HERE job, job->y, job->y, weight);
    const real state = weighed_size(HERE job->y, weight), slope = weighed_size(HERE job->k, weight);
    real guess = state >= VAGUE && slope >= VAGUE ? OPENING*state/slope : GUESS;
    guess = guess < longest ? guess : longest;
    for (int j = 0; j < N_S; j++)
        moved[j] = job->y[j] + guess*job->k[j];
    const int failed = stage_rates(HERE job, job->t + guess, moved, k, w);
    if (failed)
        return failed;
    for (int j = 0; j < N_S; j++)
        k[j] -= job->k[j];
    const real change = weighed_size(HERE k, weight)/guess, most = change > slope ? change : slope;
    real found = guess;
    if (most <= FLAT)
        found = fmax(GUESS, OPENING*guess);
    else if (isfinite(most))
        found = pow(OPENING/most, 1.0/(order + 1));
    found = found < LEAP_MOST*guess ? found : LEAP_MOST*guess;
    a->h = found < longest ? found : longest;
    return FINISHED;
}

/* A stretch begins at the time reached, where rates are known, and ends at the next break. */
static int begin_stretch(GIVEN Job *job, int order, real *w)
{
    Work *a = (Work *)job->work;
    int64_t b = 0;
    while (b + 1 < job->n_breaks && job->breaks[b] <= job->t)
        b++;
    a->first = job->t;
    a->order = order;
    a->ratio = job->ratio;
    a->end = job->breaks[b];
    a->last = nextafter(a->end, -HUGE_VAL);
    a->memory = CALM;
    a->rejected = a->held = a->free = 0;
    a->under_way = 1;
    a->small = 0;
    const int failed = first_step(HERE job, order, w);
    if (!failed)
        note_sizes(HERE job, OUTLOOK*a->h);
    return failed;
}

/* Errors of the states against what is allowed, and the largest. */
static void told_errors(GIVEN Job *job, real *error, const real *weight)
{
    job->excess = 0.0;
    for (int j = 0; j < N_S; j++) {
        error[j] /= weight[j];
        if (fabs(error[j]) > job->excess) {
            job->excess = fabs(error[j]);
            job->culprit = j;
        }
    }
}

/* Counts a step that is taken. */
static void note_step(Job *job, real h)
{
    Work *a = (Work *)job->work;
    a->t = job->t;
    a->length = h;
    job->steps++;
    job->shortest = job->steps == 1 || h < job->shortest ? h : job->shortest;
    job->longest = fmax(job->longest, h);
}

/* The head of every step. */
static void begin_step(Job *job)
{
    Work *a = (Work *)job->work;
    a->tenths = a->halvings = 0;
    job->from = job->y;
    job->portions = 0;
}

/* Length and end of the next step to be tried, or why there is none. */
static int next_step(const Job *job, real *h, real *t)
{
    const Work *a = (const Work *)job->work;
    const real left = a->end - job->t;
    const int last = FITTED*a->h >= left;
    *h = last ? left : 2.0*a->h > left ? 0.5*left : a->h;
    *t = last ? a->end : job->t + *h;
    if (job->steps + job->rejected >= job->most)
        return TOO_MANY_STEPS;
    if (!(a->h >= fmin(SHORTEST*fabs(job->t), left) && a->h > 0.0)) /* less may be left after an event */
        return a->tenths ? NOT_FINITE : STEP_TOO_SMALL;
    return FINISHED;
}

/* A step whose error is too large, or not finite, is to be tried again, shorter. */
static void reject_step(GIVEN Job *job, real h, real safety, real exponent, real size, const real *next,
    const real *error)
{
    Work *a = (Work *)job->work;
    job->rejected++;
    a->rejected = 1;
    if (isfinite(size) && all_finite(HERE next)) {
        a->tenths = 0;
        a->h = h*fmax(SHRINK, safety*pow(size, -1.0/exponent));
    } else {
        for (int j = 0; j < N_S; j++)
            job->bad[j] = next[j] + error[j];
        a->h = ++a->tenths <= TENTHS ? TENTH*h : 0.0;
    }
}

/* A step that is tried: the state after it, and its error, of each state and in all, against what is allowed. */
static int try_step(GIVEN Job *job, const Embedded *m, real h, real *next, real *error, real *size, real *w)
{
    Work *a = (Work *)job->work;
    ARRAY(real, weight, N_S);
    ARRAY(real, none, N_S);
    memcpy(a->k[0], job->k, N_S*sizeof *job->k);
    for (int i = 1; i <= m->result; i++) {
        moved_by(HERE a, m->rows[i], i, h, job->y, next);
        if (i == m->result - 1)
            memcpy(a->stage, next, N_S*sizeof *next);
        const int failed = i < m->errors ? stage_rates(HERE job, job->t + m->nodes[i]*h, next, a->k[i], w) : FINISHED;
        if (failed)
            return failed;
    }
    find_weights(HERE job, job->y, next, weight);
    memset(none, 0, N_S*sizeof *none);
    moved_by(HERE a, m->error, m->errors, h, none, error);
    *size = weighed_size(HERE error, weight);
    if (m->second) {
        ARRAY(real, other, N_S);
        moved_by(HERE a, m->second, m->errors, h, none, other);
        const real lower = weighed_size(HERE other, weight), both = sqrt(*size**size + LOWER*lower*lower);
        *size = both != 0.0 ? *size**size/both : 0.0;
    }
    told_errors(HERE job, error, weight);
    return FINISHED;
}

/* What states within a step from the state y follow from; its rates are still those of the stages. */
static int keep_interpolation(GIVEN Job *job, const Embedded *m, real h, const real *y, const real *next, real *w)
{
    Work *a = (Work *)job->work;
    ARRAY(real, none, N_S);
    ARRAY(real, state, N_S);
    int failed;
    if (m->errors <= m->result && (failed = stage_rates(HERE job, job->t + h, next, a->k[m->result], w)))
        return failed;
    for (int i = m->result + 1; i < m->stages; i++) {
        moved_by(HERE a, m->rows[i], i, h, y, state);
        if ((failed = stage_rates(HERE job, job->t + m->nodes[i]*h, state, a->k[i], w)))
            return failed;
    }
    memcpy(a->from, y, N_S*sizeof *y);
    for (int j = 0; j < N_S; j++) {
        const real rise = next[j] - y[j];
        a->part[0][j] = rise;
        a->part[1][j] = h*a->k[0][j] - rise;
        a->part[2][j] = 2.0*rise - h*(a->k[m->result][j] + a->k[0][j]);
    }
    memset(none, 0, N_S*sizeof *none);
    for (int i = 3; i < m->coefficients; i++)
        moved_by(HERE a, m->dense[i - 3], m->stages, h, none, a->part[i]);
    return FINISHED;
}

static void state_within(GIVEN const Job *job, const Embedded *m, real t, real *y)
{
    const Work *a = (const Work *)job->work;
    const real x = (t - a->t)/a->length;
    for (int j = 0; j < N_S; j++) {
        real sum = a->part[m->coefficients - 1][j];
        for (int i = m->coefficients - 2; i >= 0; i--)
            sum = a->part[i][j] + (i % 2 ? x : 1.0 - x)*sum;
        y[j] = a->from[j] + x*sum;
    }
}

#if HAS_LOOPS
#include "adaptive_loops.c"
#endif
/* Takes the end of a step, `next`, for the state; its rates may be known. */
static int take_step(GIVEN Job *job, real t, const real *next, const real *known, real *w)
{
    Work *a = (Work *)job->work;
    int failed;
    memcpy(job->y, next, N_S*sizeof *next);
    unit_sizes_of(HERE job->y);
    job->t = t;
    a->under_way = t < a->end;
    if (a->small)
        note_sizes(HERE job, 0.0);
    if (N_UPDATE && t == job->times[job->reached + 1] && (failed = keep_values(HERE job, 0, t, job->y, w)))
        return failed;
    if (known && a->under_way)
        memcpy(job->k, known, N_S*sizeof *known);
    else {
        job->evaluations++;
        if ((failed = rates(HERE job, 1, t, job->y, job->k, w)))
            return failed;
    }
    accept(HERE job, t, job->k);
    a->ratio = job->ratio;
    return FINISHED;
}

/* The explicit method; it stands in for stiff ones near singular positions. */
static const Embedded *explicit_method(const Job *job)
{
    return &embedded[job->method >= RADAU5 ? 0 : job->method - N_FIXED];
}

/* Is a step held by a fast mode? Its rate follows from two stages at the end of the step (Hairer & Wanner, Solving
   Ordinary Differential Equations II, section IV.2). */
static void look_for_stiffness(GIVEN Job *job, const Embedded *m, real h, const real *next, const real *rates_there)
{
    Work *a = (Work *)job->work;
    ARRAY(real, weight, N_S);
    ARRAY(real, k, N_S);
    ARRAY(real, y, N_S);
    find_weights(HERE job, job->y, next, weight);
    for (int j = 0; j < N_S; j++) {
        k[j] = rates_there[j] - a->k[m->result - 1][j];
        y[j] = next[j] - a->stage[j];
    }
    const real size = weighed_size(HERE y, weight), rate = size > 0.0 ? weighed_size(HERE k, weight)/size : 0.0;
    if (h*rate > m->held) {
        a->gained = a->held ? a->gained + h : h;
        a->free = 0;
        job->slowed++;
        if (++a->held >= STIFF_STEPS << (job->backs < TRIALS ? job->backs : TRIALS) && !job->held) {
            job->held = 1;
            job->fastest = rate;
            job->pace = a->gained/(a->held*m->result);
        }
    } else if (++a->free == FREE_STEPS)
        a->held = 0;
}

/* One explicit step that is accepted. States within it can be had if a row lies there, or always. */
static int explicit_step(GIVEN Job *job, int always, real *w)
{
    Work *a = (Work *)job->work;
    const Embedded *m = explicit_method(job);
    ARRAY(real, next, N_S);
    ARRAY(real, error, N_S);
    real size;
    int failed;
    if (!a->under_way && (failed = begin_stretch(HERE job, m->order, w)))
        return failed;
    ARRAY(real, loose, N_S); /* before loops are closed */
    for (;;) {
        real h, t;
        if ((failed = next_step(job, &h, &t)))
            return failed;
        if ((failed = try_step(HERE job, m, h, next, error, &size, w)))
            return failed;
        if (!(size <= 1.0) || !all_finite(HERE next)) {
            reject_step(HERE job, h, SAFETY, m->exponent, size, next, error);
            continue;
        }
        if (MODEL_HAS(LOOPS))
            memcpy(loose, next, N_S*sizeof *loose);
        if ((failed = admit_step(HERE job, h, t, next, a->k[m->errors - 1], w)) > 0)
            continue;
        if (failed)
            return -failed;
        const real share = SAFETY*pow(fmax(size, SMOOTH), 0.75*m->damping - 1.0/m->exponent)
            *pow(a->memory, m->damping);
        const real most = a->rejected ? 1.0 : m->growth;
        a->h = h*(share < SHRINK ? SHRINK : share < most ? share : most);
        a->memory = fmax(size, CALM);
        a->rejected = 0;
        const real *free_end = MODEL_HAS(LOOPS) ? loose : next;
        const int within = always || t > job->times[job->reached + 1];
        if (within && (failed = keep_interpolation(HERE job, m, h, job->y, free_end, w)))
            return failed;
        const int known = m->errors > m->result; /* are rates at the end known? */
        if (job->look && known)
            look_for_stiffness(HERE job, m, h, free_end, a->k[m->result]);
        a->was_implicit = 0;
        note_step(job, h);
        /* rates at the end hold for the next step, unless routines are to remember or the state was moved since */
        const int same = !MODEL_HAS(LOOPS) && !REMEMBERS && N_UNIT == 0 && (within || known);
        failed = take_step(HERE job, t, next, same ? a->k[m->result] : NULL, w);
        if (!failed && job->look && !known)
            look_for_stiffness(HERE job, m, h, next, job->k);
        return failed;
    }
}

#if HAS_STIFF
#include "stiff.c"
#include "radau.c"
#include "rodas.c"
#else
typedef real Stiff;
#endif

#if LINKED
/* Gives the arrays of a run their places in its memory, from `at` on, as often as the kernel is entered: the memory may
   be a copy. Returns how many numbers they take. */
static int64_t lay_out(GIVEN Work *a, Stiff *s, real *at)
{
    const int n = N_S, entries = MODEL_HAS(STIFF) ? n*n + 1 : 0, places = MODEL_HAS(STIFF) ? n + 1 : 0;
    const real *const first = at;
    for (int i = 0; i < MOST_STAGES; i++, at += n)
        a->k[i] = at;
    for (int i = 0; i < MOST_COEFFICIENTS; i++, at += n)
        a->part[i] = at;
    a->from = at;
    a->stage = a->from + n;
    s->slopes = a->stage + n;
    s->one = s->slopes + entries;
    s->re = s->one + entries;
    s->im = s->re + entries;
    s->one_row = (int *)(void *)(s->im + entries);
    s->pair_row = s->one_row + places;
    at = s->im + entries + places;
    return at - first;
}

EXPORT int64_t work_room(GIVEN_ALONE)
{
    Work a;
    Stiff s;
    real at;
    return (int64_t)((sizeof a + sizeof s)/sizeof(real) + 4) + lay_out(model, NULL, &a, &s, &at);
}

static void use_work(GIVEN Job *job)
{
    Stiff *s = stiff_of(job);
    lay_out(HERE (Work *)job->work, s, (real *)(void *)(s + 1));
}
#else
#define use_work(job) ((void)0)
EXPORT int64_t work_room(void)
{
    return (int64_t)((sizeof(Work) + (HAS_STIFF ? sizeof(Stiff) : 0))/sizeof(real) + 4);
}
#endif

/* One step that is accepted. */
static int adaptive_step(GIVEN Job *job, int always, real *w)
{
#if HAS_STIFF
    Work *a = (Work *)job->work;
    const int implicit = job->method >= RADAU5 && (job->look != 2 || job->held) && !job->near;
    if (implicit != a->implicit)
        a->under_way = 0;
    a->implicit = implicit;
    if (implicit) {
        begin_step(job);
        const int failed = job->method == RODAS5P ? rodas_step(HERE job, w) : radau_step(HERE job, w);
        if (failed >= 0)
            return failed;
        a->implicit = a->under_way = 0;
    }
#endif
    begin_step(job);
    return explicit_step(HERE job, always, w);
}

static void interpolate(GIVEN const Job *job, real t, real *y)
{
#if HAS_STIFF
    const Work *a = (const Work *)job->work;
    const real x = (t - a->t)/a->length;
    if (a->was_implicit) {
        for (int j = 0; j < N_S; j++)
            y[j] = a->from[j] + (job->method == RODAS5P ? rodas_within(a, j, x) : beyond(a, j, x));
        return;
    }
#endif
    state_within(HERE job, explicit_method(job), t, y);
}

/* A row within the last step, or at its end. */
static int row_within(GIVEN Job *job, int live, real t, real *w)
{
    ARRAY(real, y, N_S);
    memcpy(y, job->y, N_S*sizeof *y);
    if (t != job->t) {
        interpolate(HERE job, t, y);
        unit_sizes_of(HERE y);
        const int failed = close_within(HERE job, t, y, w);
        if (failed)
            return failed;
    }
    if (set_inputs(HERE job, t, w))
        return INPUT_FAILED;
    return record(HERE job, live, t, y, w);
}

/* From output time `first` to `last`, or until so many steps are taken as may be in one call. */
static int adaptive(GIVEN Job *job, real *w)
{
    int64_t left = job->pause;
    use_work(HERE job);
    while (job->reached < job->last) {
        const real next = job->times[job->reached + 1];
        int failed;
        if (job->t < next) {
            if (left-- <= 0 || (job->look == 2 && job->held && job->method < RADAU5))
                return FINISHED;
            failed = adaptive_step(HERE job, 0, w);
        } else {
            job->reached++;
            failed = row_within(HERE job, 2, next, w);
        }
        if (failed)
            return failed;
    }
    return FINISHED;
}
