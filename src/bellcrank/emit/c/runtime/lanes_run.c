/* ---- runs side by side, from the first step to the last */

@METHODS@@TUNING@enum { FINISHED, NOT_FINITE };

typedef struct Job { /* runs that go side by side */
    const Batch *batch;
    int64_t run, used; /* the first of them, and how many */
    int64_t reached, number, n_breaks;
    int32_t method;
    const double *breaks;
    double t;
    masks alive; /* runs that go on; the others stay where they are */
    lanes p[N_P + 1], c[N_C + 1], y[N_S + 1], k[N_S + 1];
    Tally *tallies; /* of all figures, lane by lane */
} Job;

@IF SET@
/* All inputs at a time; those that all runs share are found once. */
static void set_inputs(const Job *job, double t, lanes *w)
{
    const Batch *b = job->batch;
    for (int i = 0; i < N_I; i++) {
        scalar value = 0;
        for (int j = 0; j < N_LANES; j++) {
            const Input *in = b->inputs + (job->run + (j < job->used ? j : 0))*b->inputs_apart + i;
            if (j == 0 || b->inputs_apart)
                value = (scalar)(in->scale*(in->kind == CONSTANT && !in->rate ? in->a[0] : input_value(in, t)));
            LANE(w[i], j) = value;
        }
    }
}

@END@
/* Rates of the state y at a time. */
static int rates(Job *job, int live, double t, const lanes *y, lanes *k, lanes *w)
{
@IF SET@
    set_inputs(job, t, w);
@END@
    (void)live;
    derivatives(SAME(t), y, y + N_Q, job->p, job->c, w, k, k + N_Q, NULL);
    return FINISHED;
}

static void record(Job *job, double t, const lanes *w)
{
    const Batch *b = job->batch;
    lanes row[1 + N_S + N_OUT + N_W];
    row[0] = SAME(t);
    memcpy(row + 1, job->y, N_S*sizeof *row);
    outputs(SAME(t), job->y, job->y + N_Q, job->p, job->c, w, row + 1 + N_S, NULL);
    memcpy(row + 1 + N_S + N_OUT, w, N_W*sizeof *row);
    for (int64_t j = 0; j < job->used; j++)
        if (LANE(job->alive, j))
            take_row(b, job->run + j, job->number, t, (const scalar *)row + j, N_LANES, job->tallies + j*b->n_figures);
    job->number++;
}

/* One step from y with rates k, of length h, to `next`: the rates there are left to the caller. */
static int advance(Job *job, scalar h, double t, double middle, double end, const lanes *y, const lanes *k, lanes *next,
    lanes *w)
{
@ADVANCE@}

/* Runs whose next state is not finite end. */
static void end_some(Job *job, masks good, const lanes *next)
{
    const Batch *b = job->batch;
    for (int64_t j = 0; j < job->used; j++)
        if (LANE(job->alive, j) && !LANE(good, j)) {
            const int64_t run = job->run + j;
            b->reached[run] = job->reached;
            for (int i = 0; i < N_S; i++)
                b->bad[run*N_S + i] = LANE(next[i], j);
            end_tallies(b, run, job->tallies + j*b->n_figures);
            b->status[run] = NOT_FINITE;
        }
    job->alive &= good;
}

/* A step, or a part of one, from t to end; its stages at the end see inputs as they are at `before`, what follows as at
   `after`. */
static int part(Job *job, int last, double h, double t, double middle, double end, double before, double after,
    lanes *w)
{
    lanes next[N_S + 1], lost = SAME(0);
    advance(job, (scalar)h, t, middle, before, job->y, job->k, next, w);
    for (int i = 0; i < N_S; i++)
        lost += next[i] - next[i]; /* 0, or not a number */
    const masks good = EQUAL(lost, lost);
    if (any(job->alive & ~good))
        end_some(job, good, next);
    for (int i = 0; i < N_S; i++)
        job->y[i] = choose(job->alive, next[i], job->y[i]);
    rates(job, last, after, job->y, job->k, w);
    (void)end;
    return FINISHED;
}

@PARTS@/* Sets the runs of a group to their beginning; nonzero if constants of all of them are not finite. */
static int begin_runs(Job *job)
{
    const Batch *b = job->batch;
    for (int j = 0; j < N_LANES; j++) {
        const int64_t run = job->run + (j < job->used ? j : 0);
        const double *p = b->p + run*b->p_apart, *y = b->y + run*b->y_apart;
        double c[N_C + 1];
        int good = 1;
        constants(p, c);
        for (int i = 0; i < N_C; i++) {
            LANE(job->c[i], j) = (scalar)c[i];
            good = good && isfinite(c[i]);
        }
        for (int i = 0; i < N_P; i++)
            LANE(job->p[i], j) = (scalar)p[i];
        for (int i = 0; i < N_S; i++)
            LANE(job->y[i], j) = (scalar)y[i];
        LANE(job->alive, j) = 0;
        if (j >= job->used)
            continue;
        begin_tallies(b, job->tallies + j*b->n_figures);
        LANE(job->alive, j) = good ? -1 : 0;
        if (!good)
            b->status[run] = NO_CONSTANTS;
    }
    job->method = b->method;
    job->breaks = b->breaks;
    job->n_breaks = b->first_breaks[1] - b->first_breaks[0];
    job->t = b->t_start;
    job->reached = job->number = 0;
    return !any(job->alive);
}

/* The first row of a group. */
static void begin_rows(Job *job)
{
    lanes w[N_W + 1];
    rates(job, 1, job->t, job->y, job->k, w);
    record(job, job->t, w);
}

/* Goes on with a group to the end of a step, or until somebody stops it. */
static void go_on(Job *job, int64_t to)
{
    const Batch *b = job->batch;
    const double h = b->h, near = GAP*h;
    lanes w[N_W + 1];
    int64_t at = 0;
    for (int64_t i = job->reached + 1; i <= to && any(job->alive) && !*b->stop; i++) {
        const double t = job->t, whole = b->t_start + (double)i*h;
        const double last = i == b->total && b->t_end > b->t_start ? b->t_end : whole;
        const double end = fabs(last - whole) > near ? last : whole;
        job->reached = i;
        while (at < job->n_breaks && job->breaks[at] <= t + near)
            at++;
        if ((at < job->n_breaks && job->breaks[at] <= end + near) || end != whole)
            step_in_parts(job, at, t, end, near, w);
        else
            part(job, 1, h, t, b->t_start + ((double)i - 0.5)*h, end, end, end, w);
        job->t = end;
        if (i % b->every == 0 || i == b->total)
            record(job, last, w);
    }
}

/* Tells of the runs of a group that are over. */
static void end_runs(Job *job)
{
    const Batch *b = job->batch;
    for (int64_t j = 0; j < job->used && !*b->stop; j++)
        if (LANE(job->alive, j)) {
            end_tallies(b, job->run + j, job->tallies + j*b->n_figures);
            b->reached[job->run + j] = job->reached;
            b->status[job->run + j] = FINISHED;
        }
}
