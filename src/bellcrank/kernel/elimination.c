/* ---- closed loops: rows of constraints eliminated with the pivots that the position asks for. Entries that are zero
   cost nothing. */

typedef struct {
    int m, n, used;             /* rows; columns, not counting a right-hand side; pivots that were taken */
    real *a, *size;             /* rows of n + 1 numbers; the largest entry of each row without a pivot */
    int *count, *entry;         /* columns in which a row is not zero, n places for each row */
    int *holders, *holder;      /* rows without a pivot that are not zero in a column, m places for each column */
    int *row, *column;          /* of each pivot; then those that have none */
    char *filled;               /* is a column among the entries of a row? */
} Pivots;
#define PIVOTS(P, m, n) \
    ARRAY(real, reals_of_pivots, (m)*((n) + 2) + 1); \
    ARRAY(int, places_of_pivots, 2*(m)*((n) + 1) + 2*(n) + 1); \
    ARRAY(char, filled_of_pivots, (m)*(n) + 1); \
    Pivots P = {0, 0, 0, reals_of_pivots, 0, places_of_pivots, 0, 0, 0, 0, 0, filled_of_pivots}

/* Makes room for m rows of n columns without entries. */
static void begin_pivots(Pivots *P, int m, int n)
{
    P->m = m;
    P->n = n;
    P->used = 0;
    P->size = P->a + m*(n + 1);
    P->holders = P->count + m;
    P->row = P->holders + n;
    P->column = P->row + m;
    P->entry = P->column + n;
    P->holder = P->entry + m*n;
    memset(P->count, 0, (size_t)(m + n)*sizeof *P->count);
    memset(P->filled, 0, (size_t)(m*n)*sizeof *P->filled);
}

static void put_entry(Pivots *P, int i, int j, real x)
{
    P->a[i*(P->n + 1) + j] = x;
    P->filled[i*P->n + j] = 1;
    P->entry[i*P->n + P->count[i]++] = j;
    P->holder[j*P->m + P->holders[j]++] = i;
}

static void find_largest(Pivots *P, int i)
{
    const int *entry = P->entry + i*P->n;
    const real *a = P->a + i*(P->n + 1);
    P->size[i] = 0;
    for (int k = 0; k < P->count[i]; k++)
        if (fabs(a[entry[k]]) > P->size[i])
            P->size[i] = fabs(a[entry[k]]);
}

/* The column of the pivot of a row: of the entries that are not much smaller than the largest, the one in the emptiest
   column, and the first of those that differ by rounding: ratios must not jump with it where mechanisms are
   symmetric. */
static int best_column(const Pivots *P, int i)
{
    const int *entry = P->entry + i*P->n;
    const real *a = P->a + i*(P->n + 1);
    real size = 0;
    int holders = P->m + 1, best = 0;
    for (int k = 0; k < P->count[i]; k++) {
        const int j = entry[k], others = P->holders[j];
        const real x = fabs(a[j]);
        if (x >= SPARSER*P->size[i] && (others < holders || (others == holders && x > TIED*size))) {
            holders = others;
            size = x;
            best = j;
        }
    }
    return best;
}

/* A row that gets its pivot no longer counts in its columns. */
static void leave_column(Pivots *P, int i, int j)
{
    int *holder = P->holder + j*P->m, k = 0;
    while (holder[k] != i)
        k++;
    holder[k] = holder[--P->holders[j]];
}

/* Takes a pivot: its column goes out of the rows that have none yet. */
static void take_pivot(Pivots *P, int i, int j)
{
    const int n = P->n, W = n + 1;
    real *a = P->a + i*W;
    const real one = 1/a[j];
    int kept = 0, *entry = P->entry + i*n;
    for (int k = 0; k < P->count[i]; k++) {
        leave_column(P, i, entry[k]);
        if (entry[k] != j) {
            a[entry[k]] *= one;
            entry[kept++] = entry[k];
        }
    }
    P->count[i] = kept;
    a[n] *= one;
    P->row[P->used] = i;
    P->column[P->used++] = j;
    for (int h = 0; h < P->holders[j]; h++) {
        const int other = P->holder[j*P->m + h];
        real *b = P->a + other*W;
        int *theirs = P->entry + other*n, left = 0;
        const real factor = b[j];
        for (int k = 0; k < P->count[other]; k++)
            if (theirs[k] != j)
                theirs[left++] = theirs[k];
        P->count[other] = left;
        for (int k = 0; k < kept; k++) {
            const int c = entry[k];
            if (!P->filled[other*n + c])
                put_entry(P, other, c, 0);
            b[c] -= factor*a[c];
        }
        b[n] -= factor*a[n];
    }
}

/* Lists the columns without a pivot behind those with one. */
static void list_columns(Pivots *P)
{
    for (int k = 0; k < P->used; k++)
        P->holders[P->column[k]] = -1;
    for (int j = 0, k = P->used; j < P->n; j++)
        if (P->holders[j] >= 0)
            P->column[k++] = j;
}

/* Eliminates rows, the largest pivot first, as many as the rank; rows whose pivots are not above `least` are left out.
   Returns the ratio of the last pivot to the first, against its usual value. */
static real eliminate(Pivots *P, int rank, real usual, real least)
{
    real first = 0.0, ratio = 1.0;
    for (int i = 0; i < P->m; i++) {
        P->row[i] = i;
        find_largest(P, i);
    }
    while (P->used < rank) {
        int best = P->used;
        real above = TIED*P->size[P->row[best]];
        for (int k = best + 1; k < P->m; k++)
            if (P->size[P->row[k]] > above) {
                best = k;
                above = TIED*P->size[P->row[k]];
            }
        const int i = P->row[best], j = best_column(P, i);
        if (P->used == 0)
            first = P->size[i];
        ratio = first > 0 ? P->size[i]/(first*usual) : 0;
        if (!(ratio > least))
            break;
        P->row[best] = P->row[P->used];
        take_pivot(P, i, j);
        for (int h = 0; h < P->holders[j]; h++)
            find_largest(P, P->holder[j*P->m + h]);
    }
    list_columns(P);
    return ratio;
}

/* m rows of J, scaled, with a right-hand side, which may be NULL for zero. `which`: these rows, or NULL for all;
   `place`: columns among n, -1: left out, or NULL for all. `bridged`: some rows are not those of the model and may have
   entries anywhere. */
static void put_rows(GIVEN Pivots *P, int m, const int *which, int n, const int *place, const real *restrict rows,
    const real *restrict right, int bridged)
{
    begin_pivots(P, m, n);
    for (int k = 0; k < m; k++) {
        const int i = which ? which[k] : k;
        for (int e = bridged ? 0 : ROW_AT[i]; e < (bridged ? N_U : ROW_AT[i + 1]); e++) {
            const int column = bridged ? e : ROW_COLUMN[e], j = place ? place[column] : column;
            if (j >= 0 && (!bridged || rows[i*N_U + column] != 0))
                put_entry(P, k, j, rows[i*N_U + column]*ROW_SCALE[i]*COLUMN_SCALE[column]);
        }
        P->a[k*(n + 1) + n] = right ? right[i]*ROW_SCALE[i] : 0;
    }
}

/* T with A T = 0, of n rows, and c with A c = right, from rows A that are eliminated; returns the number of columns
   of T. */
static int null_space(const Pivots *P, real *restrict T, real *restrict c)
{
    const int n = P->n, W = n + 1, p = n - P->used;
    memset(T, 0, (size_t)(n*p)*sizeof *T);
    for (int k = n - 1; k >= 0; k--) {
        const int s = P->column[k], i = k < P->used ? P->row[k] : -1;
        if (i < 0)
            T[s*p + k - P->used] = 1;
        c[s] = i < 0 ? 0 : P->a[i*W + n];
        for (int e = 0; i >= 0 && e < P->count[i]; e++) {
            const int from = P->entry[i*n + e];
            const real factor = P->a[i*W + from];
            c[s] -= factor*c[from];
            for (int j = 0; j < p; j++)
                T[s*p + j] -= factor*T[from*p + j];
        }
    }
    return p;
}

/* The same for the rows of J. */
static int null_basis(GIVEN const Pivots *P, real *restrict T, real *restrict c)
{
    const int p = null_space(P, T, c);
    for (int i = 0; i < N_U; i++) {
        c[i] *= COLUMN_SCALE[i];
        for (int j = 0; j < p; j++)
            T[i*p + j] *= COLUMN_SCALE[i];
    }
    return p;
}

/* MT = M T, and M c taken from rest. mass: rows of the lower triangle of M, packed. */
static void by_inertia(GIVEN const real *restrict mass, int p, const real *restrict T, const real *restrict c,
    real *restrict MT, real *restrict rest)
{
    memset(MT, 0, (size_t)(N_U*p)*sizeof *MT);
    for (int i = 0; i < N_U; i++)
        for (int e = MASS_AT[i]; e < MASS_AT[i + 1]; e++) {
            const int k = MASS_COLUMN[e];
            const real m = mass[i*(i + 1)/2 + k];
            rest[i] -= m*c[k];
            for (int j = 0; j < p; j++)
                MT[i*p + j] += m*T[k*p + j];
            if (k == i)
                continue;
            rest[k] -= m*c[i];
            for (int j = 0; j < p; j++)
                MT[k*p + j] += m*T[i*p + j];
        }
}
