static inline double formula_sign(double a) { return a > 0 ? 1 : a < 0 ? -1 : a + 0; }
static inline double formula_modulo(double a, double b)
{
    const double rest = fmod(a, b);
    if (rest == 0)
        return copysign(rest, b);
    return (rest < 0) != (b < 0) ? rest + b : rest;
}
static inline double formula_smaller_of_any(double a, double b) { return a != a ? a + b : a < b ? a : b; }
static inline double formula_larger_of_any(double a, double b) { return a != a ? a + b : a > b ? a : b; }

/* A step of a formula at a row, with values of parameters; x: the steps before. */
static double formula_step(const FormulaStep *s, const double *row, const double *values, const double *x)
{
    switch (s->op) {
    case 0: return row[s->a]/s->number; /* column */
    case 1: return values[s->a]; /* value */
    case 2: return s->number; /* number */
    case 3: return x[s->a] + x[s->b]; /* + */
    case 4: return x[s->a] - x[s->b]; /* - */
    case 5: return x[s->a] * x[s->b]; /* * */
    case 6: return x[s->a] / x[s->b]; /* / */
    case 7: return -x[s->a]; /* neg */
    case 8: return (double)(x[s->a] < x[s->b]); /* < */
    case 9: return (double)(x[s->a] <= x[s->b]); /* <= */
    case 10: return (double)(x[s->a] > x[s->b]); /* > */
    case 11: return (double)(x[s->a] >= x[s->b]); /* >= */
    case 12: return pow(x[s->a], x[s->b]); /* pow */
    case 13: return sin(x[s->a]); /* sin */
    case 14: return cos(x[s->a]); /* cos */
    case 15: return tan(x[s->a]); /* tan */
    case 16: return asin(x[s->a]); /* asin */
    case 17: return acos(x[s->a]); /* acos */
    case 18: return atan(x[s->a]); /* atan */
    case 19: return atan2(x[s->a], x[s->b]); /* atan2 */
    case 20: return sqrt(x[s->a]); /* sqrt */
    case 21: return exp(x[s->a]); /* exp */
    case 22: return log(x[s->a]); /* log */
    case 23: return log10(x[s->a]); /* log10 */
    case 24: return log2(x[s->a]); /* log2 */
    case 25: return log1p(x[s->a]); /* log1p */
    case 26: return expm1(x[s->a]); /* expm1 */
    case 27: return cbrt(x[s->a]); /* cbrt */
    case 28: return hypot(x[s->a], x[s->b]); /* hypot */
    case 29: return sinh(x[s->a]); /* sinh */
    case 30: return cosh(x[s->a]); /* cosh */
    case 31: return tanh(x[s->a]); /* tanh */
    case 32: return asinh(x[s->a]); /* asinh */
    case 33: return acosh(x[s->a]); /* acosh */
    case 34: return atanh(x[s->a]); /* atanh */
    case 35: return fabs(x[s->a]); /* abs */
    case 36: return formula_sign(x[s->a]); /* sign */
    case 37: return floor(x[s->a]); /* floor */
    case 38: return ceil(x[s->a]); /* ceil */
    case 39: return formula_modulo(x[s->a], x[s->b]); /* mod */
    case 40: return formula_smaller_of_any(x[s->a], x[s->b]); /* min */
    case 41: return formula_larger_of_any(x[s->a], x[s->b]); /* max */
    case 42: return x[s->a] != 0.0 ? x[s->b] : x[s->c]; /* where */
    }
    return NAN;
}
