/* The state on the constraints again, with what an event has set as it is. Zero if that cannot be, or is near a
   singular position. */
static int mended(const Watch *watch, const int *set, double t, double *state)
{
    const Job *job = watch->job;
    lanes y[N_S + 1], w[N_W + 1], change[2*N_CORRECTED_U + 1];
    double p[N_P + 1], c[N_C + 1], own[N_W + 1] = {0.0}, residual = 0.0;
    const Place at = {t, p, c, own, NULL};
    int open = 0, reverse = 0;
    set_inputs(job, t, w);
    for (int i = 0; i < N_W; i++)
        own[i] = LANE(w[i], watch->lane);
    parameters_of(watch, p);
    for (int i = 0; i < N_C; i++)
        c[i] = LANE(CONSTANTS(job)[i], watch->lane);
    for (int attempt = 0; attempt < 2; attempt++) {
        double closed[N_S + 1];
        int may[N_S + 1];
        for (int i = 0; i < N_S; i++)
            may[i] = !set[i] && (attempt > 0 || follows[i]);
        memcpy(closed, state, N_S*sizeof *closed);
        open = close_at(&at, closed, may, 0, &residual, &reverse);
        if (open < 0) {
            memcpy(state, closed, N_S*sizeof *closed);
            break;
        }
    }
    put_state(-1, state, y, NULL);
    return open < 0 && LANE(regular(job, t, y, w, change), watch->lane);
}

