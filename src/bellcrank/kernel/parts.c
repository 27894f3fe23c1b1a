typedef struct Part { /* of a step; its stages see inputs until `before`, what follows as they are at `after` */
    double to, before, after;
} Part;

/* The next part, from t on, of a step to `end` that is cut at the breaks from number b on. Breaks nearer than `near` to
   a step's end lie at it. */
static Part next_part(const Job *job, int64_t *b, double end, double near)
{
    Part next = {end, end, end};
    if (*b < job->n_breaks && job->breaks[*b] <= end + near) {
        const double first = job->breaks[*b];
        double last = first;
        while (++*b < job->n_breaks && job->breaks[*b] <= last + near)
            last = job->breaks[*b];
        next.to = first < end - near ? first : end;
        next.before = nextafter(first < next.to ? first : next.to, -HUGE_VAL);
        next.after = last > next.to ? last : next.to;
    }
    return next;
}

