/* ---- rigid wheels: the kernel knows how each stands, and reports what happens to it */

enum { MOST_REPORTS = 2000 };
static const char *const wheel_names[] = {@NAMES@};
static const int must_be_above[] = {@STRICT@}; /* may a wheel not start below the ground? */
static double wheel_modes[N_WHEELS*N_MODES], wheel_depths[N_WHEELS], wheel_reports[3*MOST_REPORTS];

/* Wheels that start below the ground are moved up. */
static void begin_wheels(Job *job)
{
    for (int i = 0; i < N_WHEELS; i++)
        wheel_modes[i*N_MODES + NORMAL_Z] = 1.0;
    job->modes = wheel_modes;
    job->depths = wheel_depths;
    job->told = wheel_reports;
    job->most_told = MOST_REPORTS;
    raise_wheels(job);
    for (int i = 0; i < N_WHEELS; i++) {
        if (wheel_depths[i] > 0.0 && must_be_above[i])
            problem(settings.input, 0, "%s starts %g below ground", wheel_names[i], wheel_depths[i]);
        else if (wheel_depths[i] > 0.0)
            printf("note: %s starts %g below ground and is moved up\n", wheel_names[i], wheel_depths[i]);
        wheel_depths[i] = 0.0;
    }
}

/* Reports what happened to wheels since this was called last. */
static void report_wheels(Job *job)
{
    static const char *const kinds[] = {"impact", "rolls", "leaves the ground", "is held in a notch"};
    for (int64_t i = 0; i < job->n_told; i++) {
        const double *x = job->told + 3*i;
        printf("%s %s at t = %.6g s\n", wheel_names[(int)x[1]], kinds[(int)x[2]], x[0]);
    }
    for (int i = 0; i < N_WHEELS; i++) {
        if (wheel_depths[i] > 0.0)
            printf("note: an event puts %s %g below ground; it is moved up\n", wheel_names[i], wheel_depths[i]);
        wheel_depths[i] = 0.0;
    }
    job->n_told = 0;
}

