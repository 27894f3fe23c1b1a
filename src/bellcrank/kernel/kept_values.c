#if !LINKED
/* functions that a model may lack */
typedef void (*Evaluated)(real, const real *, const real *, const real *, const real *, const real *, real *,
    Externals *);
#if !N_START
static const Evaluated start = NULL;
#endif
#if !N_UPDATE
static const Evaluated update = NULL;
#endif
#endif

/* Values of external routines that are kept over a run (at its first step) and over a step. */
static int find_kept(GIVEN const Job *job, int first, real t, const real *y, real *w, Externals *externals, real *kept)
{
    ARRAY(real, found, N_W - N_I + 1);
    if (set_inputs(HERE job, t, w))
        return INPUT_FAILED;
    if (N_START && first) {
        start(t, y, y + N_Q, job->p, job->c, w, found, externals);
        memcpy(w + N_I, found, N_START*sizeof *found);
    }
    if (N_UPDATE) {
        update(t, y, y + N_Q, job->p, job->c, w, found, externals);
        memcpy(w + N_I + N_START, found, N_UPDATE*sizeof *found);
    }
    memcpy(kept, w + N_I, (N_W - N_I)*sizeof *kept);
    return externals->failed ? EXTERNAL_FAILED : FINISHED;
}

/* The same while a run goes on: what these routines remember may change. */
static int keep_values(GIVEN Job *job, int first, real t, const real *y, real *w)
{
    if (N_START + N_UPDATE == 0)
        return FINISHED;
    job->externals->live = 2;
    return find_kept(HERE job, first, t, y, w, job->externals, job->kept);
}
