/* Look-ups: over a uniform grid of one or two arguments, formulas of the place in a cell and of that cell's numbers. */

#include "formulas.h"

typedef struct Lookup {
    int32_t axes, beyond;       /* arguments; may these lie outside the grid? */
    int32_t cells[2];           /* of each argument */
    double low[2], high[2];     /* ends of the grid ... */
    double least[2], most[2];   /* ... with what rounding may add */
    double step[2], per[2];     /* length of a cell, and one by it */
    int32_t width, values;      /* numbers of a cell; values of the formulas */
    const double *numbers;      /* of all cells */
    Formulas formulas;          /* over the numbers of a cell and the place in it */
} Lookup;

enum { LOOKUP_PLACE = 6 };

/* The numbers of the cell in which x lies, and its place: of each argument the distance from the lower end of the cell,
   and if it may lie outside, by how much it does, and whether it lies inside. NULL outside a grid that ends. */
static inline const double *lookup_cell(const Lookup *f, const double *x, double *place)
{
    int32_t cell = 0;
    for (int32_t k = 0; k < f->axes; k++) {
        double inside = x[k];
        if (f->beyond) {
            inside = x[k] < f->low[k] ? f->low[k] : x[k] > f->high[k] ? f->high[k] : x[k];
            place[f->axes + k] = x[k] - inside;
            place[2*f->axes + k] = x[k] < inside || x[k] > inside ? 0.0 : 1.0;
        } else if (!(x[k] >= f->least[k] && x[k] <= f->most[k]))
            return NULL;
        const double from = inside - f->low[k], at = from*f->per[k];
        const int32_t i = from > 0.0 ? at < f->cells[k] ? (int32_t)at : f->cells[k] - 1 : 0;
        place[k] = from - i*f->step[k];
        cell = cell*f->cells[k] + i;
    }
    return f->numbers + (int64_t)cell*f->width;
}

/* The values at x: not-a-number outside a grid that ends. */
static inline void look_up(const Lookup *f, const double *x, double *values)
{
    double place[LOOKUP_PLACE];
    const double *cell = lookup_cell(f, x, place);
    if (cell == NULL)
        for (int32_t k = 0; k < f->values; k++)
            values[k] = NAN;
    else
        f->formulas(cell, place, NULL, values);
}
