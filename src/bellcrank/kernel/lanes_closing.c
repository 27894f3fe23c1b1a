/* ---- closed loops in regular positions: what depends on the rest is moved, in every lane as often as it needs it */

static lanes length_of(int n, const lanes *x)
{
    lanes sum = SAME(0.0);
    for (int j = 0; j < n; j++)
        sum += x[j]*x[j];
    return lanes_sqrt(sum);
}

/* What is taken from dependent speeds; are the pivots there far from those of singular positions? */
static masks regular(const Job *job, double t, const lanes *y, const lanes *w, lanes *change)
{
    lanes steady = SAME(HUGE_VAL);
    correct_u(SAME(t), y, y + N_Q, PARAMETERS(job), CONSTANTS(job), w, change, NULL);
    for (int i = 0; i < N_CORRECTED_U; i++)
        steady = lanes_min(steady, lanes_abs(change[N_CORRECTED_U + i]*SAME(PIVOT_SCALE[i])));
    return MASK(steady > SAME(WATCHED));
}

/* Brings states onto the constraints; in which lanes that was done. In the others a pivot is small, or the correction
   is large or does not settle. */
static masks corrected(const Job *job, masks alive, double h, double t, lanes *y, lanes *w)
{
    lanes change[2*N_CORRECTED_U + 1], *q = y, *u = y + N_Q, size = SAME(HUGE_VAL), moved = SAME(0.0);
    masks going = alive;
    set_inputs(job, t, w);
    for (int n = 0; n < CORRECTIONS && any(going); n++) {
        correct_q(SAME(t), q, u, PARAMETERS(job), CONSTANTS(job), w, change, NULL);
        for (int i = 0; i < N_CORRECTED_Q; i++)
            q[CORRECTED_Q[i]] = choose(going, q[CORRECTED_Q[i]] - change[i], q[CORRECTED_Q[i]]);
        size = choose(going, length_of(N_CORRECTED_Q, change), size);
        moved = choose(going, moved + size, moved);
        going &= ~MASK(size < SAME(SETTLED));
    }
    const masks steady = regular(job, t, y, w, change);
    for (int i = 0; i < N_CORRECTED_U; i++)
        u[CORRECTED_U[i]] -= change[i];
    return steady & MASK(size < SAME(SETTLED)) & MASK(moved <= SAME(SHARE*h)*length_of(N_U, u) + SAME(LEAST));
}

/* Runs that come near a singular position are left to be done alone, from their beginning. */
RARE static void leave_some(Job *job, masks good)
{
    const Batch *b = job->batch;
    for (int64_t j = 0; j < job->used; j++)
        if (LANE(job->alive[0], j) && !LANE(good, j))
            b->status[job->run + j] = LEFT;
    job->alive[0] &= good;
}

/* Runs that begin near one, too. */
static void begin_loops(Job *job)
{
    lanes change[2*N_CORRECTED_U + 1];
    set_inputs(job, job->t, job->w);
    leave_some(job, regular(job, job->t, job->y, job->w, change));
}

