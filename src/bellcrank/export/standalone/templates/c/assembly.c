@CLOSE@/* coordinates that may move although they are given, if the loops cannot be closed otherwise */
static const int guessed[N_Q] = {@GUESSED@};

static const char *const rows_of_loops[] = {@ROWS@};

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

