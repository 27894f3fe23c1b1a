/* One step from y with rates k, of length h, to `next`: the rates there are left to the caller. */
static int advance(GIVEN Job *job, real h, real t, real middle, real end, const real *y, const real *k, real *next,
    real *w)
{
    ARRAY(real, stage, N_S); ARRAY(real, k2, N_S);
    ARRAY(real, k3, N_S); ARRAY(real, k4, N_S);
    int failed = FINISHED;
    switch (job->method) {
    case RK2: /* midpoint rule */
        for (int j = 0; j < N_S; j++)
            stage[j] = y[j] + h/2*k[j];
        if ((failed = rates(HERE job, 1, middle, stage, k2, w)))
            return failed;
        for (int j = 0; j < N_S; j++)
            next[j] = y[j] + h*k2[j];
        break;
    case RK4:
        for (int j = 0; j < N_S; j++)
            stage[j] = y[j] + h/2*k[j];
        if ((failed = rates(HERE job, 0, middle, stage, k2, w)))
            return failed;
        for (int j = 0; j < N_S; j++)
            stage[j] = y[j] + h/2*k2[j];
        if ((failed = rates(HERE job, 0, middle, stage, k3, w)))
            return failed;
        for (int j = 0; j < N_S; j++)
            stage[j] = y[j] + h*k3[j];
        if ((failed = rates(HERE job, 0, end, stage, k4, w)))
            return failed;
        for (int j = 0; j < N_S; j++)
            next[j] = y[j] + h/6*(k[j] + 2*k2[j] + 2*k3[j] + k4[j]);
        break;
    case HEUN: /* trapezoidal rule */
        for (int j = 0; j < N_S; j++)
            stage[j] = y[j] + h*k[j];
        if ((failed = rates(HERE job, 0, end, stage, k2, w)))
            return failed;
        for (int j = 0; j < N_S; j++)
            next[j] = y[j] + h/2*(k[j] + k2[j]);
        break;
    case EULER: /* semi-implicit */
        memcpy(next, y, N_S*sizeof *next);
        for (int j = N_Q; j < N_S; j++)
            next[j] = y[j] + h*k[j];
        if ((failed = rates(HERE job, 0, t, next, k2, w)))
            return failed;
        for (int j = 0; j < N_Q; j++)
            next[j] = y[j] + h*k2[j];
        break;
    case AB2: /* two-step Adams-Bashforth */
        if (fabs(job->behind - h) < GAP*h) {
            for (int j = 0; j < N_S; j++)
                next[j] = y[j] + h/2*(3*k[j] - job->old[j]);
            unit_sizes_of(HERE next);
            return failed;
        }
        for (int j = 0; j < N_S; j++)
            stage[j] = y[j] + h/2*k[j];
        if ((failed = rates(HERE job, 0, middle, stage, k2, w)))
            return failed;
        for (int j = 0; j < N_S; j++)
            next[j] = y[j] + h*k2[j];
        break;
    case RK3: /* Kutta's third-order rule */
    default: /* there is no other, which compilers cannot know */
        for (int j = 0; j < N_S; j++)
            stage[j] = y[j] + h/2*k[j];
        if ((failed = rates(HERE job, 0, middle, stage, k2, w)))
            return failed;
        for (int j = 0; j < N_S; j++)
            stage[j] = y[j] + h*( - k[j] + 2*k2[j]);
        if ((failed = rates(HERE job, 0, end, stage, k3, w)))
            return failed;
        for (int j = 0; j < N_S; j++)
            next[j] = y[j] + h/6*(k[j] + 4*k2[j] + k3[j]);
        break;
    }
    unit_sizes_of(HERE next);
    return failed;
}
