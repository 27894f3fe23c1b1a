/* coordinates that may move although they are given, if the loops cannot be closed otherwise */
static const int guessed[N_Q] = {@GUESSED@};

static const char *const rows_of_loops[] = {@ROWS@};

static double largest_of(int n, const double *x, int *where)
{
    double size = 0.0;
    *where = 0;
    for (int i = 0; i < n; i++)
        if (!(fabs(x[i]) <= size)) {
            size = fabs(x[i]);
            *where = i;
        }
    return size;
}

/* The smallest change of the free variables with A change = r. */
static void free_change(int m, int n, const double *a, const double *r, const int *may, double *change)
{
    static double part[LARGEST_A + 1], x[N_S + 1], one[N_S + 1];
    int count = 0;
    for (int j = 0; j < n; j++)
        count += may[j];
    for (int i = 0; i < m; i++)
        for (int j = 0, k = 0; j < n; j++)
            if (may[j])
                part[i*count + k++] = a[i*n + j];
    for (int j = 0; j < count; j++)
        one[j] = 1.0;
    if (count > 0)
        least_norm(m, count, m, one, part, r, x);
    for (int j = 0, k = 0; j < n; j++)
        change[j] = may[j] ? x[k++] : 0.0;
}

/* Closes the loops by changing free variables only: damped Newton steps for q, then u so that they stay closed.
   Returns the number of the row that stays open, or -1. */
static int close_loops(Job *job, double *y, const int *may, double *residual)
{
    static double all[N_G*(1 + N_Q) + N_V*(1 + N_U) + 1], trial[N_S + 1], change[N_S + 1], w[N_W + 1];
    const double *g = all, *G = g + N_G, *v = G + N_G*N_Q, *J = v + N_V;
    int worst = 0;
@IF INPUTS@
    set_inputs(job, 0.0, w);
@ELSE@
    w[0] = 0.0;
@END@
    closure(0.0, y, y + N_Q, job->p, job->c, w, all, job->externals);
    for (int n = 0; n < 60 && largest_of(N_G, g, &worst) >= 1e-13; n++) {
        const double before = length(N_G, g);
        free_change(N_G, N_Q, G, g, may, change);
        const double size = length(N_Q, change);
        double scale = size > 0.5 ? 0.5/size : 1.0;
        memcpy(trial, y, sizeof trial);
        for (int halvings = 0; halvings < 12; halvings++) {
            for (int j = 0; j < N_Q; j++)
                trial[j] = y[j] - scale*change[j];
            closure(0.0, trial, y + N_Q, job->p, job->c, w, all, job->externals);
            if (length(N_G, g) < before || scale < 1e-3)
                break;
            scale /= 2;
        }
        if (!(length(N_G, g) < before)) {
            closure(0.0, y, y + N_Q, job->p, job->c, w, all, job->externals);
            break;
        }
        memcpy(y, trial, N_Q*sizeof *y);
    }
    *residual = largest_of(N_G, g, &worst);
    if (!(*residual < 1e-10))
        return worst;
    free_change(N_V, N_U, J, v, may + N_Q, change);
    for (int j = 0; j < N_U; j++)
        y[N_Q + j] -= change[j];
    closure(0.0, y, y + N_Q, job->p, job->c, w, all, job->externals);
    int fastest = 0;
    const double speed = largest_of(N_U, y + N_Q, &fastest);
    *residual = largest_of(N_V, v, &worst);
    return *residual > 1e-9*(speed > 1.0 ? speed : 1.0) ? N_G + worst : -1;
}

/* An initial state that closes the loops: what is given is kept; if that cannot be, dependent coordinates are guesses only;
   then everything may move. */
static void assemble(Job *job, double *y)
{
    int may[N_S], open = -1;
    double found[N_S + 1], residual = 0.0;
    for (int attempt = 0; attempt < 3; attempt++) {
        for (int j = 0; j < N_S; j++)
            may[j] = attempt == 2 || !states[j].given || (attempt == 1 && j < N_Q && guessed[j]);
        memcpy(found, y, N_S*sizeof *y);
        if ((open = close_loops(job, found, may, &residual)) >= 0)
            continue;
        for (int j = 0; j < N_S; j++)
            if (attempt > 0 && states[j].given && fabs(found[j] - y[j]) > 1e-9)
                printf("note: the initial value of %s contradicts the constraints; %.6g is used instead of %.6g\n",
                       states[j].keyword, found[j]/states[j].factor, y[j]/states[j].factor);
        memcpy(y, found, N_S*sizeof *y);
        return;
    }
    problem(settings.input, 0, "the loop %s cannot be closed: a residual of %.3g remains. Check lengths, or give initial values "
            "nearer to an assembly", rows_of_loops[open], residual);
    stop_if_problems();
}

/* Speeds of the start that had to change, as a singular position has few directions of motion. */
static void tell_branch(const Job *job, const double *given)
{
    const double *start = job->rows + 1;
    for (int j = N_Q; j < N_S && job->filled > 0; j++)
        if (fabs(start[j] - given[j]) > @OFF_BRANCH@)
            printf("\nnote: the start is singular, and its speeds lie off the branch that they are nearest to: %.6g is used instead of "
                   "%.6g for %s", start[j]/states[j].factor, given[j]/states[j].factor, states[j].keyword);
}

/* The metric in which loops are kept closed: roots of the inverse inertias of coordinates and speeds at the start, so that
   corrections move what is light. */
static void find_metric(Job *job, const double *y, double *root_q, double *root_u)
{
    static double heavy[N_U + 1], still[N_Q + 1], moving[N_Q + 1], one[N_U + 1], w[N_W + 1];
    double most = 0.0, least = INFINITY;
@IF INPUTS@
    set_inputs(job, 0.0, w);
@ELSE@
    w[0] = 0.0;
@END@
    inertias(0.0, y, y + N_Q, job->p, job->c, w, heavy, job->externals);
    for (int i = 0; i < N_U; i++)
        most = heavy[i] > most ? heavy[i] : most;
    for (int i = 0; i < N_U; i++) {
        const double inertia = heavy[i] > 1e-3*most ? heavy[i] : 1e-3*most;
        root_u[i] = most > 0.0 ? 1.0/inertia : 1.0;
        least = root_u[i] < least ? root_u[i] : least;
    }
    coordinate_rates(0.0, y, one, job->p, job->c, w, still, job->externals);
    for (int i = 0; i < N_U; i++) {
        one[i] = 1.0;
        coordinate_rates(0.0, y, one, job->p, job->c, w, moving, job->externals);
        one[i] = 0.0;
        for (int j = 0; j < N_Q; j++)
            root_q[j] += root_u[i]*(moving[j] - still[j])*(moving[j] - still[j]);
    }
    for (int j = 0; j < N_Q; j++)
        root_q[j] = sqrt(root_q[j] > 0.0 ? root_q[j] : least);
    for (int i = 0; i < N_U; i++)
        root_u[i] = sqrt(root_u[i]);
}

