/* ---- what is kept of many runs: histories of some channels, and figures found while a run goes on */

#include "tables/counting.h"
#include "batch.h"

EXPORT int64_t batch_size(void)
{
    return sizeof(Batch);
}

typedef struct Tally { /* of one figure of one run, so far */
    double value, least, width; /* width of the cells that are counted, the first from `least` on; of a standard
                                   deviation, the first number, and the integral of what differs from it */
    double t, x;                /* the row before */
    double first, averaged;     /* time of the first row; what is averaged over time, at the row before */
    int64_t rows;
    int32_t *cells; /* of a percentile; or states of a weighting, in double precision, real and imaginary parts */
} Tally;

/* Cells that a figure of a kind needs. */
static int64_t cells_of(int32_t kind)
{
    const int64_t states = 2*POLES*sizeof(double)/sizeof(int32_t);
    return kind == PERCENTILE ? CELLS : kind == WK || kind == WD ? states : 0;
}

/* ... and all figures of one run. */
static int64_t all_cells(const Batch *b)
{
    int64_t found = 0;
    for (int64_t j = 0; j < b->n_figures; j++)
        found += cells_of(b->figure_kinds[j]);
    return found;
}

/* Gives the figures of a run their cells, from `cells` on; where those of the next run begin. */
static int32_t *give_cells(const Batch *b, Tally *tallies, int32_t *cells)
{
    for (int64_t j = 0; j < b->n_figures; j++) {
        tallies[j].cells = cells;
        cells += cells_of(b->figure_kinds[j]);
    }
    return cells;
}

#if HAS_MEMORY
/* Room for the figures of some runs at a time; NULL if there is none. */
static Tally *new_tallies(const Batch *b, int64_t runs)
{
    Tally *tallies = (Tally *)malloc((size_t)runs*((size_t)b->n_figures*sizeof *tallies
                                                   + (size_t)all_cells(b)*sizeof *tallies->cells) + 1);
    int32_t *cells = (int32_t *)(tallies + runs*b->n_figures);
    for (int64_t j = 0; tallies && j < runs; j++)
        cells = give_cells(b, tallies + j*b->n_figures, cells);
    return tallies;
}
#endif

/* The weighted signal at the next row: the sum of the states of the filter, which is straight between rows. */
static double weighted(const Batch *b, int64_t number, int kind, Tally *a, double x)
{
    const double *k = b->filters + ((kind == WD ? 2 : 0) + (number + 1 == b->n_times))*POLES*6;
    double *state = (double *)a->cells, sum = 0.0;
    for (int i = 0; i < POLES && a->rows; i++, k += 6, state += 2) {
        const double real_part = k[0]*state[0] - k[1]*state[1] + k[2]*x + k[4]*a->x;
        state[1] = k[0]*state[1] + k[1]*state[0] + k[3]*x + k[5]*a->x;
        state[0] = real_part;
        sum += real_part;
    }
    return sum;
}

/* Counts a number in one of equal cells; they are made twice as wide, as often as needed, if it lies beyond them. */
static void count(Tally *a, double x)
{
    if (!isfinite(x))
        return;
    if (!(a->width > 0.0)) {
        if (a->cells[0] == 0)
            a->least = x;
        const double away = fabs(x - a->least);
        if (!(away > 0.0)) {
            a->cells[0]++;
            return;
        }
        const int32_t alike = a->cells[0]; /* the same number so far: it gets a cell in the middle */
        a->width = away/(CELLS/4);
        a->least -= a->width*(CELLS/2);
        a->cells[0] = 0;
        a->cells[CELLS/2] = alike;
    }
    while (x < a->least || x >= a->least + a->width*CELLS) {
        const int below = x < a->least;
        for (int i = 0; i < CELLS/2; i++) { /* two become one, from the end that stays where it is */
            const int from = below ? CELLS - 2 - 2*i : 2*i;
            a->cells[below ? CELLS - 1 - i : i] = a->cells[from] + a->cells[from + 1];
        }
        memset(a->cells + (below ? 0 : CELLS/2), 0, CELLS/2*sizeof *a->cells);
        a->least -= below ? a->width*CELLS : 0.0;
        a->width *= 2.0;
    }
    const int64_t cell = (int64_t)((x - a->least)/a->width);
    a->cells[cell < CELLS ? cell : CELLS - 1]++;
}

/* The number below which a share of those counted lie. */
static double percentile(const Tally *a, double share)
{
    int64_t all = 0, below = 0;
    for (int i = 0; i < CELLS; i++)
        all += a->cells[i];
    if (!all)
        return NAN;
    const double wanted = share*(double)(all - 1);
    for (int i = 0; i < CELLS; i++) {
        if (a->cells[i] && wanted < (double)(below + a->cells[i]))
            return a->least + a->width*(i + (wanted - (double)below + 0.5)/(double)a->cells[i]);
        below += a->cells[i];
    }
    return a->least + a->width*CELLS;
}

/* Takes what is averaged over time, by the trapezoidal rule. */
static void take_averaged(Tally *a, double t, double x)
{
    if (!a->rows)
        a->first = t;
    else
        a->value += 0.5*(t - a->t)*(x + a->averaged);
    a->averaged = x;
}

/* The mean over time so far; of one time alone, what was last. */
static double mean_over_time(const Tally *a)
{
    const double span = a->t - a->first;
    return span > 0.0 ? a->value/span : a->averaged;
}

/* Standard deviation, divided by the mean if that is asked for. */
static double deviation(const Tally *a, int over_mean)
{
    const double span = a->t - a->first;
    const double away = span > 0.0 ? a->width/span : a->x - a->least; /* of the mean from the first number */
    const double square = mean_over_time(a) - away*away;
    const double found = isnan(square) ? NAN : square > 0.0 ? sqrt(square) : 0.0;
    if (!over_mean)
        return found;
    return a->least + away != 0.0 ? found/(a->least + away) : NAN;
}

static void begin_tallies(const Batch *b, Tally *tallies)
{
    for (int64_t j = 0; j < b->n_figures; j++) {
        Tally *a = &tallies[j];
        memset(a->cells, 0, (size_t)cells_of(b->figure_kinds[j])*sizeof *a->cells);
        a->value = a->width = a->least = 0.0;
        a->rows = 0;
    }
}

/* Takes one recorded row of a run: time, states, outputs, inputs, each `apart` from the next. One that is no part of
   histories, at an event, has a `number` beyond them. */
static void take_row(const Batch *b, int64_t run, int64_t number, double t, const scalar *row, int64_t apart,
    Tally *tallies)
{
    if (number < b->n_times)
        for (int64_t j = 0; j < b->n_kept; j++)
            b->kept[(j*b->n + run)*b->n_times + number] = row[b->kept_columns[j]*apart]/b->kept_factors[j];
    for (int64_t j = 0; j < b->n_figures; j++) {
        Tally *a = &tallies[j];
        const double x = row[b->figure_columns[j]*apart]/b->figure_factors[j], level = b->figure_numbers[j];
        const int kind = b->figure_kinds[j];
        if (number >= b->n_times && (kind == WK || kind == WD))
            continue; /* of rows as far apart as they are asked for */
        switch (kind) {
        case FINAL:
            a->value = x;
            break;
        case MIN: /* nan stays */
            a->value = !a->rows || x < a->value || isnan(x) ? x : a->value;
            break;
        case MAX:
            a->value = !a->rows || x > a->value || isnan(x) ? x : a->value;
            break;
        case PEAK:
            a->value = !a->rows || fabs(x) > a->value || isnan(x) ? fabs(x) : a->value;
            break;
        case TRAVEL:
            a->least = !a->rows || x < a->least || isnan(x) ? x : a->least;
            a->width = !a->rows || x > a->width || isnan(x) ? x : a->width;
            a->value = a->width - a->least;
            break;
        case SD: {
            const double change = a->rows ? x - a->x : NAN, rate = change == 0.0 ? 0.0 : fabs(change/(t - a->t));
            a->value = a->rows < 2 || rate > a->value || isnan(rate) ? rate : a->value;
            break;
        }
        case STD:
        case LOAD_VARIATION:
            if (!a->rows)
                a->least = x;
            else
                a->width += 0.5*(t - a->t)*(x + a->x - 2.0*a->least);
            take_averaged(a, t, (x - a->least)*(x - a->least));
            break;
        case AIRBORNE:
            take_averaged(a, t, x <= 0.0);
            break;
        case MEAN:
            take_averaged(a, t, x);
            break;
        case RMS:
            take_averaged(a, t, x*x);
            break;
        case PERCENTILE:
            count(a, x);
            break;
        case WK:
        case WD: {
            const double filtered = weighted(b, number, kind, a, x);
            take_averaged(a, t, filtered*filtered);
            break;
        }
        default: /* CROSSING: of a line between two rows */
            if (!a->rows)
                a->value = NAN;
            else if (isnan(a->value) && (a->x < level) != (x < level))
                a->value = a->t + (t - a->t)*((level - a->x)/(x - a->x));
        }
        a->t = t;
        a->x = x;
        a->rows++;
    }
}

static void end_tallies(const Batch *b, int64_t run, const Tally *tallies)
{
    for (int64_t j = 0; j < b->n_figures; j++) {
        const Tally *a = &tallies[j];
        const int kind = b->figure_kinds[j];
        double x = a->value;
        if (kind == MEAN)
            x = mean_over_time(a);
        else if (kind == RMS || kind == WK || kind == WD)
            x = sqrt(mean_over_time(a));
        else if (kind == STD || kind == LOAD_VARIATION)
            x = deviation(a, kind == LOAD_VARIATION);
        else if (kind == PERCENTILE)
            x = percentile(a, 0.01*b->figure_numbers[j]);
        b->figures[j*b->n + run] = a->rows ? x : NAN;
    }
}
