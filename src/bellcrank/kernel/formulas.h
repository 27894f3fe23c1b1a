#ifndef FORMULAS
#define FORMULAS
/* Formulas of a model over up to three lists of numbers, and where their values go. */
typedef void (*Formulas)(const double *a, const double *b, const double *c, double *out);
#endif
