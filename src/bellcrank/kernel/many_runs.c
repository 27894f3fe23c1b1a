/* Many runs of a program, one after another. */

#include "many_rows.c"

static int are_finite(int64_t n, const double *x)
{
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return 0;
    return 1;
}

/* Sets the job to the beginning of a run; nonzero if its constants are not finite. `fresh` is the job before any. */
static int begin_run(const Batch *b, int64_t run, const Job *fresh, Job *job)
{
    const Array *arrays = b->arrays;
    double *c = (double *)fresh->c;
    *job = *fresh;
    for (int64_t j = 0; j < b->n_arrays; j++)
        memcpy(arrays[j].to, arrays[j].from, (size_t)arrays[j].n*sizeof(double));
    memcpy(job->y, b->y + run*b->y_apart, (size_t)b->n_states*sizeof(double));
    job->p = b->p + run*b->p_apart;
    job->inputs = b->inputs + run*b->inputs_apart;
    job->breaks = b->breaks + b->first_breaks[run*b->breaks_apart];
    job->n_breaks = b->first_breaks[run*b->breaks_apart + 1] - b->first_breaks[run*b->breaks_apart];
    if (job->times) {
        job->atol = b->errors + run*b->errors_apart;
        job->caps = job->atol + b->n_states;
    }
    job->root_q = b->roots + run*b->roots_apart;
    job->root_u = job->root_q + b->n_coordinates;
    b->constants(job->p, c);
    return !are_finite(b->n_constants, c);
}

/* Runs from number `first` to before `last`, as long as nobody stops them. What each run changes is in `job` and the
   arrays of the batch, so that every thread needs a job and a batch of its own; results go to separate places.
   `tallies`: room for the figures of one run. */
static void run_all(const Batch *b, Job *job, Tally *tallies, int64_t first, int64_t last)
{
    const Job fresh = *job;
    for (int64_t run = first; run < last && !*b->stop; run++) {
        int64_t number = 0;
        begin_tallies(b, tallies);
        if (begin_run(b, run, &fresh, job)) {
            job->status = NO_CONSTANTS;
        } else {
            job->reached = 0;
            do {
                job->first = job->reached;
                job->last = job->total - job->first < b->block ? job->total : job->first + b->block;
                job->filled = 0;
                job->n_told = 0;
                b->run(job);
                for (int64_t j = 0; j < job->filled; j++, number++)
                    take_row(b, run, number, job->rows[j*b->width], job->rows + j*b->width, 1, tallies);
                if (job->look == 2 && job->held) /* stiff steps follow: of another program */
                    job->status = LEFT;
            } while (!job->status && job->reached < job->total && !*b->stop);
        }
        if (*b->stop)
            break;
        end_tallies(b, run, tallies);
        b->reached[run] = job->reached;
        memcpy(b->bad + run*b->n_states, job->bad, (size_t)b->n_states*sizeof(double));
        b->status[run] = job->status;
    }
    *job = fresh;
}
