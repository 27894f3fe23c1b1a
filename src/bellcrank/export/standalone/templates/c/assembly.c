@TUNING@/* coordinates that may move although they are given, if the loops cannot be closed otherwise */
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
    double part[LARGEST_A + 1], x[N_S + 1], one[N_S + 1];
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

@IF SIDES@
enum { N_SIDES = @N_SIDES@ };

/* for every row of g, the number of the direction that must point as drawn, or -1: it holds on both sides */
static const int side_of[N_G] = {@SIDES@};

/* Divides rows, and their slopes, by 1 + the cosine of the angle to the direction drawn: what is left is zero on the
   right side only. */
static void weigh(Job *job, const double *y, const double *w, double *g, double *slopes)
{
    double h[N_SIDES*(1 + N_Q)];
    sides(job->t, y, y + N_Q, job->p, job->c, w, h, job->externals);
    for (int i = 0; i < N_G; i++)
        if (side_of[i] >= 0) {
            const double *by_q = h + N_SIDES + side_of[i]*N_Q;
            const double d = fmax(1.0 + h[side_of[i]], OPPOSITE);
            for (int j = 0; j < N_Q; j++)
                slopes[i*N_Q + j] = (slopes[i*N_Q + j] - g[i]/d*by_q[j])/d;
            g[i] /= d;
        }
}

/* The first row of a direction that points the wrong way, or -1. */
static int reversed_row(Job *job, const double *y, const double *w)
{
    double h[N_SIDES*(1 + N_Q)];
    sides(job->t, y, y + N_Q, job->p, job->c, w, h, job->externals);
    for (int i = 0; i < N_G; i++)
        if (side_of[i] >= 0 && !(h[side_of[i]] > 0.0))
            return i;
    return -1;
}

@END@
/* All rows at a state, those of positions weighed by their sides if asked for; returns the largest residual of these
   as it is and its row. */
static double rows_at(Job *job, const double *y, const double *w, int weighed, double *all, int *worst)
{
    closure(job->t, y, y + N_Q, job->p, job->c, w, all, job->externals);
    const double size = largest_of(N_G, all, worst);
@IF SIDES@
    if (weighed)
        weigh(job, y, w, all, all + N_G);
@ELSE@
    (void)weighed;
@END@
    return size;
}

/* Closes the loops by damped Newton steps of free coordinates. Returns the number of the row that stays open, or -1. */
static int close_positions(Job *job, double *y, const int *may, const double *w, int weighed, double *residual)
{
    double all[N_G*(1 + N_Q) + N_V*(1 + N_U) + 1], trial[N_S + 1], change[N_S + 1];
    int worst = 0;
    *residual = rows_at(job, y, w, weighed, all, &worst);
    for (int n = 0; n < TRIES && *residual >= CLOSED; n++) {
        const double before = length(N_G, all);
        free_change(N_G, N_Q, all + N_G, all, may, change);
        const double size = length(N_Q, change);
        double scale = size > STRIDE ? STRIDE/size : 1.0;
        memcpy(trial, y, N_S*sizeof *trial);
        for (int halvings = 0; halvings < CUTS; halvings++) {
            for (int j = 0; j < N_Q; j++)
                trial[j] = y[j] - scale*change[j];
            *residual = rows_at(job, trial, w, weighed, all, &worst);
            if (length(N_G, all) < before || scale < CRUMB)
                break;
            scale /= 2;
        }
        if (!(length(N_G, all) < before)) {
            *residual = rows_at(job, y, w, weighed, all, &worst);
            break;
        }
        memcpy(y, trial, N_Q*sizeof *y);
    }
    return *residual < ASSEMBLED ? -1 : worst;
}

/* Closes the loops by changing free variables only, with all directions as drawn, then u so that they stay closed.
   Returns the number of the row that stays open, or -1; `reverse`: it closes with its direction the other way round.
   `nudges`: how many starts beside the given one are tried. */
static int close_loops(Job *job, double *y, const int *may, int nudges, double *residual, int *reverse)
{
    double all[N_G*(1 + N_Q) + N_V*(1 + N_U) + 1], change[N_S + 1], w[N_W + 1] = {0.0};
    const double *v = all + N_G*(1 + N_Q), *J = v + N_V;
    int worst = 0;
    *reverse = 0;
@IF INPUTS@
    set_inputs(job, job->t, w);
@END@
@IF SIDES@
    double given[N_S + 1], plain[N_S + 1];
    memcpy(given, y, N_S*sizeof *y);
    memcpy(plain, y, N_S*sizeof *y);
    int open = -1, wrong = -1;
    for (int nudge = 0; nudge <= nudges; nudge++) {
        double left = 0.0;
        for (int j = 0; j < N_Q; j++)
            y[j] = given[j] + (may[j] ? NUDGE*nudge*sin(j + nudge) : 0.0);
        if (close_positions(job, y, may, w, 1, &left) < 0 && reversed_row(job, y, w) < 0)
            break;
        if (nudge == 0) { /* as the rows are: what cannot be closed at all is told as such */
            open = close_positions(job, plain, may, w, 0, residual);
            wrong = open < 0 ? reversed_row(job, plain, w) : -1;
            if (open < 0 && wrong < 0) {
                memcpy(y, plain, N_S*sizeof *y);
                break;
            }
        }
        if (nudge == nudges) {
            *reverse = wrong >= 0;
            return *reverse ? wrong : open;
        }
    }
@ELSE@
    (void)nudges;
    const int open = close_positions(job, y, may, w, 0, residual);
    if (open >= 0)
        return open;
@END@
    rows_at(job, y, w, 0, all, &worst);
    free_change(N_V, N_U, J, v, may + N_Q, change);
    for (int j = 0; j < N_U; j++)
        y[N_Q + j] -= change[j];
    rows_at(job, y, w, 0, all, &worst);
    int fastest = 0;
    const double speed = largest_of(N_U, y + N_Q, &fastest);
    *residual = largest_of(N_V, v, &worst);
    return *residual > CARRIED*(speed > 1.0 ? speed : 1.0) ? N_G + worst : -1;
}

typedef struct Assembly {
    int open;        /* the row that cannot be closed, or -1 */
    int reverse;     /* does it close with its direction the other way round? */
    double residual; /* that remains */
} Assembly;

/* For the name of a row, and the residual that remains. */
#define CANNOT_CLOSE "the loop %s cannot be closed: a residual of %.3g remains. Check lengths, or give initial " \
    "values nearer to an assembly"
#define CLOSES_REVERSED "the loop %s closes only with its axis the other way round than it was drawn. Give initial " \
    "values nearer to the position meant, or turn the axis"

/* An initial state that closes the loops: what is given is kept; if that cannot be, dependent coordinates are guesses
   only; then everything may move. */
static Assembly find_assembly(Job *job, const double *y, const int *given, double *found)
{
    Assembly result = {-1, 0, 0.0};
    int may[N_S];
    for (int attempt = 0; attempt < 3; attempt++) {
        for (int j = 0; j < N_S; j++)
            may[j] = attempt == 2 || !given[j] || (attempt == 1 && j < N_Q && guessed[j]);
        memcpy(found, y, N_S*sizeof *y);
        if ((result.open = close_loops(job, found, may, NUDGES, &result.residual, &result.reverse)) < 0)
            break;
    }
    return result;
}

/* The metric in which loops are kept closed: roots of the inverse inertias of coordinates and speeds at the start, so
   that corrections move what is light. */
static void find_metric(Job *job, const double *y, double *root_q, double *root_u)
{
    double heavy[N_U + 1], still[N_Q + 1], moving[N_Q + 1], one[N_U + 1] = {0.0}, w[N_W + 1] = {0.0};
    double most = 0.0, least = INFINITY;
@IF INPUTS@
    set_inputs(job, job->t, w);
@END@
    memset(root_q, 0, N_Q*sizeof *root_q);
    inertias(job->t, y, y + N_Q, job->p, job->c, w, heavy, job->externals);
    for (int i = 0; i < N_U; i++)
        most = heavy[i] > most ? heavy[i] : most;
    for (int i = 0; i < N_U; i++) {
        const double inertia = heavy[i] > LIGHT*most ? heavy[i] : LIGHT*most;
        root_u[i] = most > 0.0 ? 1.0/inertia : 1.0;
        least = root_u[i] < least ? root_u[i] : least;
    }
    coordinate_rates(job->t, y, one, job->p, job->c, w, still, job->externals);
    for (int i = 0; i < N_U; i++) {
        one[i] = 1.0;
        coordinate_rates(job->t, y, one, job->p, job->c, w, moving, job->externals);
        one[i] = 0.0;
        for (int j = 0; j < N_Q; j++)
            root_q[j] += root_u[i]*(moving[j] - still[j])*(moving[j] - still[j]);
    }
    for (int j = 0; j < N_Q; j++)
        root_q[j] = sqrt(root_q[j] > 0.0 ? root_q[j] : least);
    for (int i = 0; i < N_U; i++)
        root_u[i] = sqrt(root_u[i]);
}

