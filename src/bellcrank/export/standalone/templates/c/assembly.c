/* coordinates that may move although they are given, if the loops cannot be closed otherwise */
static const int guessed[N_Q] = {@GUESSED@};

static const char *const rows_of_loops[] = {@ROWS@};

typedef struct Assembly {
    int open;        /* the row that cannot be closed, or -1 */
    int reverse;     /* does it close with its direction the other way round? */
    double residual; /* that remains */
} Assembly;

/* For the name of a row, and the residual that remains. */
#define CANNOT_CLOSE "the loop %s cannot be assembled: a residual of %.3g remains. Check lengths, or give initial " \
    "values nearer to an assembly"
#define CLOSES_REVERSED "the loop %s closes only with its axis the other way round than it was drawn. Give initial " \
    "values nearer to the position meant, or turn the axis"

/* The assembly nearest to the guess y, of those found from other starts of what may move: angles turned by up to half a
   turn, slides by up to what the guess leaves open, a little at first. Zero if there is none. */
static int from_elsewhere(Job *job, const double *y, const int *may, double *found)
{
    enum { STARTS = @STARTS@ };
    static const int slides[N_Q] = {@SLIDES@};
    static const double drawn[STARTS][N_Q] = {
@DRAWN@    };
    static const int none[N_S] = {0};
    double start[N_S], reach[N_Q], gap = 0.0, nearest_one = INFINITY, residual;
    int reverse, free_ones = 0;
    memcpy(start, y, sizeof start);
    const int open = close_loops(job, start, none, 0, &residual, &reverse);
    if (open >= 0 && open < N_G)
        gap = residual;
    for (int j = 0; j < N_Q; j++) {
        reach[j] = slides[j] ? gap : acos(-1.0);
        free_ones += may[j];
    }
    for (int i = 0; i < STARTS && free_ones > 0; i++) {
        double distance = 0.0;
        memcpy(start, y, sizeof start);
        for (int j = 0; j < N_Q; j++)
            start[j] += may[j] ? (i + 1.0)/STARTS*reach[j]*drawn[i][j] : 0.0;
        if (close_loops(job, start, may, 0, &residual, &reverse) >= 0)
            continue;
        for (int j = 0; j < N_Q; j++) {
            const double away = (start[j] - y[j])/(reach[j] > 0.0 ? reach[j] : 1.0);
            distance += away*away;
        }
        if (distance < nearest_one) {
            nearest_one = distance;
            memcpy(found, start, sizeof start);
        }
    }
    return nearest_one < INFINITY;
}

/* An initial state that closes the loops: what is given is kept; if that cannot be, dependent coordinates are guesses
   only; then everything may move. */
static Assembly find_assembly(Job *job, const double *y, const int *given, double *found)
{
    const Assembly closed = {-1, 0, 0.0};
    Assembly result = closed;
    int may[N_S];
    for (int attempt = 0; attempt < 3; attempt++) {
        for (int j = 0; j < N_S; j++)
            may[j] = attempt == 2 || !given[j] || (attempt == 1 && j < N_Q && guessed[j]);
        memcpy(found, y, N_S*sizeof *y);
        Assembly tried = {-1, 0, 0.0};
        tried.open = close_loops(job, found, may, NUDGES, &tried.residual, &tried.reverse);
        if (tried.open < 0 || (attempt != 1 && from_elsewhere(job, y, may, found)))
            return closed;
        if (attempt == 0)
            result = tried;
    }
    return result;
}

