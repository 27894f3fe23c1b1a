/* A step from t to end that is cut at the breaks from number b on. Breaks nearer than `near` to a step's end lie at
   it. */
static int step_in_parts(Job *job, int64_t b, @TIME@ t, @TIME@ end, @TIME@ near, real *w)
{
    while (t < end) {
        @TIME@ to = end, before = end, after = end;
        if (b < job->n_breaks && job->breaks[b] <= end + near) {
            const @TIME@ first = job->breaks[b];
            @TIME@ last = first;
            while (++b < job->n_breaks && job->breaks[b] <= last + near)
                last = job->breaks[b];
            to = first < end - near ? first : end;
            before = nextafter(first < to ? first : to, -HUGE_VAL);
            after = last > to ? last : to;
        }
        const int failed = part(job, to >= end, to - t, t, 0.5*(t + to), to, before, after, w);
        if (failed)
            return failed;
        t = to;
    }
    return FINISHED;
}

