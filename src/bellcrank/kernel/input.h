/* An input of a model: a signal, times a scale. */
typedef struct Input {
    int32_t kind;               /* of the signal */
    int32_t rate;               /* 0: the value, 1: its rate of change, 2: the rate of that */
    real scale;                 /* to equation units */
    real a[6];                  /* the numbers of the signal */
    int64_t n;                  /* PIECES: points x and four coefficients for every piece */
    const real *x, *pieces;
} Input;
