/* ---- closed loops: rows of constraints eliminated with the pivots that the position asks for. Entries that are zero
   cost nothing: the work grows with the loops, not with the square of their number. */

typedef struct {
    int m, n, used;             /* rows; columns, not counting a right-hand side; pivots that were taken */
    real *a, *size;             /* rows of n + 1 numbers; the largest entry of each row that has no pivot yet ... */
    int *best;                  /* ... and the column of the pivot that it would have */
    int *row, *column;          /* of each pivot; then the columns that are left */
    int *count, *entry;         /* columns in which a row is not zero, n places for each row */
    int *holders, *holder;      /* rows without a pivot that are not zero in a column, m places for each column */
    int *winner;                /* a tree of rows, those with larger entries above */
    char *filled;      /* is a column among the entries of a row? */
} Pivots;
#define PIVOTS(P, m, n) \
    ARRAY(real, reals_of_pivots, (m)*((n) + 2) + 1); \
    ARRAY(int, places_of_pivots, 2*(m)*(n) + 7*(m) + 2*(n) + 2); \
    ARRAY(char, filled_of_pivots, (m)*(n) + 1); \
    Pivots P = {0, 0, 0, reals_of_pivots, 0, places_of_pivots, 0, 0, 0, 0, 0, 0, 0, filled_of_pivots}

/* Makes room for m rows of n columns without entries. */
static void begin_pivots(Pivots *P, int m, int n)
{
    int *at = P->best;
    P->m = m;
    P->n = n;
    P->used = 0;
    P->size = P->a + m*(n + 1);
    P->row = at += m;
    P->column = at += m;
    P->count = at += n;
    P->entry = at += m;
    P->holders = at += m*n;
    P->holder = at += n;
    P->winner = at + m*n;
    memset(P->size, 0, (size_t)m*sizeof *P->size);
    memset(P->best, 0, (size_t)m*sizeof *P->best);
    memset(P->count, 0, (size_t)m*sizeof *P->count);
    memset(P->holders, 0, (size_t)n*sizeof *P->holders);
    memset(P->filled, 0, (size_t)(m*n)*sizeof *P->filled);
}

static void put_entry(Pivots *P, int i, int j, real x)
{
    P->a[i*(P->n + 1) + j] = x;
    P->filled[i*P->n + j] = 1;
    P->entry[i*P->n + P->count[i]++] = j;
    P->holder[j*P->m + P->holders[j]++] = i;
}

/* The largest entry of a row; for a pivot, of those that are not much smaller, the one in the emptiest column, and the
   first of those that differ by rounding: ratios must not jump with it where mechanisms are symmetric. */
static void find_largest(Pivots *P, int i)
{
    const int *entry = P->entry + i*P->n, count = P->count[i];
    const real *a = P->a + i*(P->n + 1);
    real largest = 0, size = 0;
    int holders = P->m + 1;
    for (int k = 0; k < count; k++)
        largest = fabs(a[entry[k]]) > largest ? fabs(a[entry[k]]) : largest;
    for (int k = 0; k < count; k++) {
        const int j = entry[k], others = P->holders[j];
        const real x = fabs(a[j]);
        if (x >= SPARSER*largest && (others < holders || (others == holders && x > TIED*size))) {
            holders = others;
            size = x;
            P->best[i] = j;
        }
    }
    P->size[i] = largest;
}

/* A row that gets its pivot no longer counts in its columns. */
static void leave_column(Pivots *P, int i, int j)
{
    int *holder = P->holder + j*P->m, k = 0;
    while (holder[k] != i)
        k++;
    holder[k] = holder[--P->holders[j]];
}

static int larger(const Pivots *P, int left, int right)
{
    return right < P->m && P->size[right] > TIED*P->size[left] ? right : left;
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
    P->size[i] = -1;
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

/* Columns without a pivot, behind those with one. */
static void list_columns(Pivots *P)
{
    memset(P->filled, 0, (size_t)P->n*sizeof *P->filled);
    for (int k = 0; k < P->used; k++)
        P->filled[P->column[k]] = 1;
    for (int j = 0, k = P->used; j < P->n; j++)
        if (!P->filled[j])
            P->column[k++] = j;
}

/* Eliminates rows, the largest pivot first, as many as the rank; rows whose pivots are not above `least` are left out.
   Returns the ratio of the last pivot to the first, against its usual value. */
static real eliminate(Pivots *P, int rank, real usual, real least)
{
    int leaves = 1;
    real first = 0.0, ratio = 1.0;
    while (leaves < P->m)
        leaves *= 2;
    for (int i = 0; i < leaves; i++) {
        P->winner[leaves + i] = i;
        if (i < P->m)
            find_largest(P, i);
    }
    for (int k = leaves - 1; k > 0; k--)
        P->winner[k] = larger(P, P->winner[2*k], P->winner[2*k + 1]);
    while (P->used < rank) {
        const int i = P->winner[1], j = P->best[i];
        const real largest = P->size[i] > 0 ? P->size[i] : 0;
        if (P->used == 0)
            first = largest;
        ratio = first > 0 ? largest/(first*usual) : 0;
        if (!(ratio > least))
            break;
        take_pivot(P, i, j);
        for (int h = -1; h < P->holders[j]; h++) {
            const int changed = h < 0 ? i : P->holder[j*P->m + h];
            if (h >= 0)
                find_largest(P, changed);
            for (int k = (leaves + changed)/2, same = 0; k > 0 && !same; k /= 2) {
                const int before = P->winner[k];
                P->winner[k] = larger(P, P->winner[2*k], P->winner[2*k + 1]);
                same = P->winner[k] == before && before != changed;
            }
        }
    }
    list_columns(P);
    return ratio;
}

/* The rows of J, scaled, with a right-hand side, which may be NULL for zero. `bridged`: some of them are not those of
   the model and may have entries anywhere. */
static void put_rows(GIVEN Pivots *P, const real *restrict rows, const real *restrict right, int bridged)
{
    begin_pivots(P, N_V, N_U);
    for (int i = 0; i < N_V; i++) {
        for (int e = bridged ? 0 : ROW_AT[i]; e < (bridged ? N_U : ROW_AT[i + 1]); e++) {
            const int j = bridged ? e : ROW_COLUMN[e];
            if (!bridged || rows[i*N_U + j] != 0)
                put_entry(P, i, j, rows[i*N_U + j]*ROW_SCALE[i]*COLUMN_SCALE[j]);
        }
        P->a[i*(N_U + 1) + N_U] = right ? right[i]*ROW_SCALE[i] : 0;
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
