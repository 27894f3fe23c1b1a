/* ---- bridges: smooth curves that carry blocks of loops through singular positions, where their rows say nothing.
   Between two points A and B of a branch, where the rows are good, it is the polynomial with the tangents and
   curvatures of these and of a point outside of each. Points z are the coordinates of a block, scaled as the columns of
   J are. */

enum { NO_CURVE, APPROACHED, BEGUN_WITHIN, MISSED };    /* MISSED: two branches do not meet */
enum { MOST_PACES = 30, MOST_TURNS = 8 };
#define NO_ENDS (-1.0)
#define UNKNOWN (-2.0)

/* Numbers of a bridge, one behind the other. Where it was built for a narrower zone, this is kept. A curve by Newton's
   formula: the number of its points, where they lie along it, and its divided differences. */
enum { POINTS = 4, EACH = 3 };
#define N_BRIDGE (4 + POINTS + (2 + EACH*POINTS)*WIDEST)
typedef struct {
    real *kind, *residual, *zone, *points, *at, *A, *share, *difference;
} Bridge;

/* where rows of a block are evaluated: time, inputs, the state from which a curve is built, and one towards which it
   leads */
typedef struct {
    Job *job;
    real t, *w;
    const real *from, *to;
    int b, n;
} Site;

typedef struct {
    real *z, *tangent, *bend, ratio;
    int coupled;
} End;

static real dot(int n, const real *a, const real *b)
{
    real sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += a[i]*b[i];
    return sum;
}

/* The bridge whose numbers begin at a place. */
static Bridge bridge_at(GIVEN real *at)
{
    real *A = at + 4 + POINTS;
    return (Bridge){at, at + 1, at + 2, at + 3, at + 4, A, A + WIDEST, A + 2*WIDEST};
}

static Bridge bridge_of(GIVEN const Job *job, int b)
{
    return bridge_at(HERE job->bridges + b*N_BRIDGE);
}

static int block_size(GIVEN int b)
{
    return BLOCK_AT[b + 1] - BLOCK_AT[b];
}

/* Coordinates of a block, or with speeds its speeds, scaled. */
static void scaled_block(GIVEN int b, const real *y, int speeds, real *z)
{
    for (int i = 0; i < block_size(HERE b); i++) {
        const int k = BLOCK_AT[b] + i;
        z[i] = (speeds ? y[N_Q + BLOCK_U[k]] : y[BLOCK_Q[k]])/COLUMN_SCALE[BLOCK_U[k]];
    }
}

/* t with J t = 0 of length 1, c with J c = right, both scaled, for the rows of a block; the ratio of pivots. right
   may be NULL for zero. */
static real block_basis(GIVEN int b, const real *J, const real *right, real *t, real *c)
{
    const int n = block_size(HERE b), m = BLOCK_ROW_AT[b + 1] - BLOCK_ROW_AT[b];
    PIVOTS(P, MOST_BLOCK_ROWS, WIDEST);
    ARRAY(real, T, WIDEST*WIDEST);
    ARRAY(int, place, N_U);
    memset(place, -1, N_U*sizeof *place);
    for (int j = 0; j < n; j++)
        place[BLOCK_U[BLOCK_AT[b] + j]] = j;
    put_rows(HERE &P, m, BLOCK_ROW + BLOCK_ROW_AT[b], n, place, J, right, 0);
    const real ratio = eliminate(&P, n - 1, BLOCK_USUAL[b], 0.0);
    const int p = null_space(&P, T, c); /* one, or more where rows vanish */
    for (int i = 0; i < n; i++)
        t[i] = T[i*p];
    const real size = length(n, t);
    for (int i = 0; i < n; i++)
        t[i] /= size;
    return ratio;
}

static real block_ratio(GIVEN int b, const real *J)
{
    ARRAY(real, t, WIDEST);
    ARRAY(real, c, WIDEST);
    return block_basis(HERE b, J, NULL, t, c);
}

/* The rows of a block at a point: the largest residual, the basis with c from the residuals; the ratio of pivots. */
static real block_rows_at(GIVEN const Site *at, const real *z, real *largest_g, real *t, real *c)
{
    ARRAY(real, all, N_G*(1 + N_Q) + N_V*(1 + N_U) + 1);
    ARRAY(real, state, N_S);
    memcpy(state, at->from, N_S*sizeof *state);
    for (int i = 0; i < at->n; i++)
        state[BLOCK_Q[BLOCK_AT[at->b] + i]] = z[i]*COLUMN_SCALE[BLOCK_U[BLOCK_AT[at->b] + i]];
    closure(at->t, state, state + N_Q, at->job->p, at->job->c, at->w, all, at->job->externals);
    *largest_g = 0.0;
    for (int i = BLOCK_ROW_AT[at->b]; i < BLOCK_ROW_AT[at->b + 1]; i++) {
        const real g = fabs(all[BLOCK_ROW[i]]*ROW_SCALE[BLOCK_ROW[i]]);
        if (!(g <= *largest_g))
            *largest_g = g;
    }
    return block_basis(HERE at->b, all + N_G*(1 + N_Q) + N_V, all, t, c);
}

static real ratio_at(GIVEN const Site *at, const real *z)
{
    ARRAY(real, t, WIDEST);
    ARRAY(real, c, WIDEST);
    real g;
    return block_rows_at(HERE at, z, &g, t, c);
}

static void ahead(int n, const End *from, real far, real *z)
{
    for (int i = 0; i < n; i++)
        z[i] = from->z[i] + far*from->tangent[i] + 0.5*far*far*from->bend[i];
}

/* By how much the ratio falls ahead. */
static real slope_at(GIVEN const Site *at, const End *e)
{
    ARRAY(real, z, WIDEST);
    ahead(at->n, e, GLANCE, z);
    return (e->ratio - ratio_at(HERE at, z))/GLANCE;
}

/* Moves z to the nearest point of the branch, to round-off; is it one? */
static int onto(GIVEN const Site *at, real *z)
{
    ARRAY(real, t, WIDEST);
    ARRAY(real, c, WIDEST);
    real before = HUGE_VAL, g;
    for (int turn = 0; turn < MOST_TURNS; turn++) {
        block_rows_at(HERE at, z, &g, t, c);
        if (g < ROUND_OFF || (g >= before && g < CERTIFIED))
            return 1;
        if (!isfinite(g))
            return 0;
        before = g;
        const real along = dot(at->n, c, t);
        for (int i = 0; i < at->n; i++)
            z[i] -= c[i] - along*t[i];
    }
    return before < CERTIFIED;
}

/* Are rows of a block coupled to speeds of others? With some parameters they may be. */
static int coupled_block(GIVEN int b, const real *J)
{
    ARRAY(int, own, N_U);
    memset(own, 0, (N_U)*sizeof *own);
    for (int j = BLOCK_AT[b]; j < BLOCK_AT[b + 1]; j++)
        own[BLOCK_U[j]] = 1;
    for (int i = BLOCK_ROW_AT[b]; i < BLOCK_ROW_AT[b + 1]; i++)
        for (int j = 0; j < N_U; j++)
            if (!own[j] && fabs(J[BLOCK_ROW[i]*N_U + j]*ROW_SCALE[BLOCK_ROW[i]]*COLUMN_SCALE[j]) > FOREIGN)
                return 1;
    return 0;
}

/* Ratio of pivots at the point e->z of the branch, the tangent along a direction, the curvature. Forces are evaluated
   too, at a speed that occurs. */
static void look_from(GIVEN const Site *at, const real *direction, End *e)
{
    ARRAY(real, all, N_SYSTEM);
    ARRAY(real, state, N_S);
    ARRAY(real, u, WIDEST);
    ARRAY(real, t, WIDEST);
    ARRAY(real, c, WIDEST);
    real g;
    const Job *job = at->job;
    e->ratio = block_rows_at(HERE at, e->z, &g, e->tangent, c);
    scaled_block(HERE at->b, at->from, 1, u);
    real speed = length(at->n, u);
    speed = speed > STILL ? speed : 1.0;
    const real sign = dot(at->n, e->tangent, direction) < 0.0 ? -1.0 : 1.0;
    memcpy(state, at->from, N_S*sizeof *state);
    for (int i = 0; i < at->n; i++) {
        const int k = BLOCK_AT[at->b] + i;
        e->tangent[i] *= sign;
        state[BLOCK_Q[k]] = e->z[i]*COLUMN_SCALE[BLOCK_U[k]];
        state[N_Q + BLOCK_U[k]] = speed*e->tangent[i]*COLUMN_SCALE[BLOCK_U[k]];
    }
    system_at(at->t, state, state + N_Q, job->p, job->c, at->w, all, job->externals);
    for (int i = 0; i < N_V; i++)
        all[AT_GAMMA + i] /= speed*speed;
    e->coupled = coupled_block(HERE at->b, all + AT_J);
    block_basis(HERE at->b, all + AT_J, all + AT_GAMMA, t, c);
    const real along = dot(at->n, c, e->tangent);
    for (int i = 0; i < at->n; i++)
        e->bend[i] = c[i] - along*e->tangent[i];
}

/* From a point A outside of the zone along its tangent: to the edge, then a look to the other side for B. The zone lies
   between: rows are lost on the way. */
static int ends_along(GIVEN const Site *at, real zone, End *A, End *B)
{
    ARRAY(real, before, WIDEST);
    for (int n = 0; n < MOST_PACES && !(A->ratio <= EDGE*zone); n++) {
        real slope = slope_at(HERE at, A);
        slope = slope > 0.0 ? slope : 0.2*A->ratio;
        real far = (A->ratio - 0.5*(1 + EDGE)*zone)/slope;
        far = far < PACE ? far : PACE;
        memcpy(before, A->tangent, WIDEST*sizeof *before);
        ahead(at->n, A, far, A->z);
        if (!onto(HERE at, A->z))
            return 0;
        look_from(HERE at, before, A);
    }
    const real slope = slope_at(HERE at, A);
    if (!(slope > 0.0 && A->ratio >= 0.5*zone && A->ratio <= 2*EDGE*zone))
        return 0;
    real far = (A->ratio + 1.1*(A->ratio > zone ? A->ratio : zone))/slope;
    for (; far <= REACH; far *= WIDEN) {
        ahead(at->n, A, 0.5*far, B->z);
        if (!(ratio_at(HERE at, B->z) < zone))
            continue;
        ahead(at->n, A, far, B->z);
        if (!onto(HERE at, B->z))
            continue;
        look_from(HERE at, A->tangent, B);
        if (B->ratio >= BEHIND*zone)
            return 1;
    }
    return 0;
}

/* The same from the state: towards the one that is given, or the other way. */
static int ends_across(GIVEN const Site *at, const real *u, real zone, End *A, End *B)
{
    ARRAY(real, z, WIDEST);
    ARRAY(real, way, WIDEST);
    scaled_block(HERE at->b, at->from, 0, z);
    scaled_block(HERE at->b, at->to, 0, way);
    for (int i = 0; i < at->n; i++)
        way[i] -= z[i];
    for (int n = 0; n < 2; n++) {
        memcpy(A->z, z, WIDEST*sizeof *z);
        look_from(HERE at, u, A);
        const real along = dot(at->n, A->tangent, way);
        if ((fabs(along) > GLANCE ? along < 0.0 : slope_at(HERE at, A) < 0.0) != n)
            for (int i = 0; i < at->n; i++)
                A->tangent[i] = -A->tangent[i];
        if (ends_along(HERE at, zone, A, B))
            return 1;
    }
    return 0;
}

/* From a point within the zone, one way. */
static int end_within(GIVEN const Site *at, const End *middle, real way, real zone, End *e)
{
    for (real far = 0.5*zone; far < REACH; far *= WIDEN) {
        ahead(at->n, middle, way*far, e->z);
        if (ratio_at(HERE at, e->z) < 1.1*zone || !onto(HERE at, e->z))
            continue;
        look_from(HERE at, middle->tangent, e);
        if (e->ratio >= BEHIND*zone)
            return 1;
    }
    return 0;
}

/* A point of the branch outside of an end of a curve; sign: on which side. Is there a good one? */
static int end_outside(GIVEN const Site *at, const End *from, real far, real zone, End *e)
{
    ahead(at->n, from, far, e->z);
    if (!onto(HERE at, e->z))
        return 0;
    look_from(HERE at, from->tangent, e);
    return e->ratio >= zone && dot(at->n, e->tangent, from->tangent) > ALIGNED;
}

/* Divided differences of the curve through points with tangents and curvatures; is its share of the chord a measure of
   the way along it? */
static int through(GIVEN int n, int points, const End *const *ends, Bridge bridge)
{
    ARRAY(real, T, WIDEST);
    ARRAY(real, K, WIDEST);
    for (int p = 0; p < points; p++) {
        const End *e = ends[p];
        const real along = dot(n, bridge.share, e->tangent), more = dot(n, bridge.share, e->bend)/(along*along);
        bridge.at[p] = 0.0;
        if (!(along > 0.0))
            return 0;
        for (int i = 0; i < n; i++) {
            T[i] = e->tangent[i]/along;
            K[i] = e->bend[i]/(along*along) - more*T[i];
            bridge.at[p] += bridge.share[i]*(e->z[i] - bridge.A[i]);
        }
        for (int i = 0; i < n; i++) {
            real *d = bridge.difference + EACH*POINTS*i;
            const real known[EACH] = {e->z[i] - bridge.A[i], T[i], 0.5*K[i]};
            memcpy(d + EACH*p, known, sizeof known);
        }
    }
    *bridge.points = points;
    for (int i = 0; i < n; i++) {
        real *d = bridge.difference + EACH*POINTS*i, last[EACH*POINTS];
        memcpy(last, d, EACH*points*sizeof *d);
        for (int j = 0; j < EACH*points; j++)
            d[j] = last[j - j % EACH];
        for (int k = 1; k < EACH*points; k++)
            for (int j = EACH*points - 1; j >= k; j--)
                d[j] = j/EACH == (j - k)/EACH ? last[j - j % EACH + k]
                    : (d[j] - d[j - 1])/(bridge.at[j/EACH] - bridge.at[(j - k)/EACH]);
    }
    return 1;
}

/* A point of a curve, its derivative and its second derivative. */
static void on_curve(Bridge B, int n, real s, real *Q, real *T, real *K)
{
    const int count = EACH*(int)*B.points;
    for (int i = 0; i < n; i++) {
        const real *d = B.difference + EACH*POINTS*i;
        Q[i] = d[count - 1];
        T[i] = K[i] = 0.0;
        for (int j = count - 2; j >= 0; j--) {
            const real along = s - B.at[j/EACH];
            K[i] = K[i]*along + 2*T[i];
            T[i] = T[i]*along + Q[i];
            Q[i] = Q[i]*along + d[j];
        }
        Q[i] += B.A[i];
    }
}

/* A curve for a zone; the residual along it, or NO_ENDS, or UNKNOWN: at rest, or coupled to others. */
static real curve_between(GIVEN const Site *at, real zone, Bridge bridge)
{
    static const real PLACES[] = {0.1, 0.3, 0.5, 0.7, 0.9};
    const int n = at->n;
    ARRAY(real, numbers, EACH*(POINTS + 1)*WIDEST);
    End ends[POINTS + 1];
    for (int i = 0; i <= POINTS; i++) {
        real *e = numbers + EACH*WIDEST*i;
        ends[i] = (End){e, e + WIDEST, e + 2*WIDEST, 0.0, 0};
    }
    End *A = &ends[0], *B = &ends[1], *middle = &ends[POINTS];
    const End *through_these[POINTS] = {A, B};
    int points = 2;
    ARRAY(real, u, WIDEST);
    ARRAY(real, Q, WIDEST);
    ARRAY(real, T, WIDEST);
    ARRAY(real, K, WIDEST);
    real g, worst = 0.0;
    scaled_block(HERE at->b, at->from, 0, A->z);
    scaled_block(HERE at->b, at->from, 1, u);
    const real ratio = ratio_at(HERE at, A->z);
    *bridge.kind = ratio >= zone ? APPROACHED : BEGUN_WITHIN;
    if (ratio >= zone) {
        if (!ends_across(HERE at, u, zone, A, B))
            return NO_ENDS;
    } else {
        const real speed = length(n, u);
        memcpy(middle->z, A->z, WIDEST*sizeof *A->z);
        if (ratio > SURE)
            look_from(HERE at, u, middle);
        else if (!(speed > STILL))
            return UNKNOWN;
        else
            for (int i = 0; i < n; i++) {
                middle->tangent[i] = u[i]/speed;
                middle->bend[i] = 0.0;
            }
        if (!end_within(HERE at, middle, -1.0, zone, A) || !end_within(HERE at, middle, 1.0, zone, B))
            return NO_ENDS;
    }
    if (A->coupled || B->coupled)
        return UNKNOWN;
    for (int i = 0; i < n; i++) {
        bridge.A[i] = A->z[i];
        bridge.share[i] = B->z[i] - A->z[i];
    }
    const real square = dot(n, bridge.share, bridge.share), far = OUTSIDE*sqrt(square);
    for (int i = 0; i < n; i++)
        bridge.share[i] /= square;
    if (end_outside(HERE at, A, -far, zone, &ends[points]))
        through_these[points] = &ends[points], points++;
    if (end_outside(HERE at, B, far, zone, &ends[points]))
        through_these[points] = &ends[points], points++;
    if (!through(HERE n, points, through_these, bridge))
        return NO_ENDS;
    for (int i = 0; i < (int)(sizeof PLACES/sizeof *PLACES); i++) {
        on_curve(bridge, n, PLACES[i], Q, T, K);
        block_rows_at(HERE at, Q, &g, T, K);
        if (!(g <= worst))
            worst = g;
    }
    return worst;
}

/* Builds the curve of a block from the start of the step towards y; narrower where it is too bent. Where there is none,
   branches miss each other, by the residual in the whole zone; where nothing is known, nothing is reported. */
static void build_curve(GIVEN Job *job, real t, int b, const real *y, real *w)
{
    const Site at = {job, t, w, job->from, y, b, block_size(HERE b)};
    ARRAY(real, numbers, N_BRIDGE);
    const Bridge found = bridge_at(HERE numbers), bridge = bridge_of(HERE job, b);
    real zone = ZONE, last = HUGE_VAL, gap = 0.0, row_scale = 0.0;
    for (int n = 0; n < ZONES; n++, zone /= 2) {
        const real residual = curve_between(HERE &at, zone, found);
        if (residual == UNKNOWN)
            return;
        if (residual == NO_ENDS)
            continue;
        if (residual < CERTIFIED) {
            memcpy(bridge.kind, numbers, N_BRIDGE*sizeof *numbers);
            *bridge.residual = residual;
            *bridge.zone = zone;
            return;
        }
        gap = gap > 0.0 ? gap : residual;
        if (!(residual < FALLS*last))
            break;
        last = residual;
    }
    for (int i = BLOCK_ROW_AT[b]; i < BLOCK_ROW_AT[b + 1]; i++)
        row_scale = ROW_SCALE[BLOCK_ROW[i]] > row_scale ? ROW_SCALE[BLOCK_ROW[i]] : row_scale;
    *bridge.kind = MISSED;
    *bridge.residual = gap/row_scale;
}

static real place_on(GIVEN const Job *job, int b, const real *y)
{
    const Bridge bridge = bridge_of(HERE job, b);
    ARRAY(real, z, WIDEST);
    scaled_block(HERE b, y, 0, z);
    for (int i = 0; i < block_size(HERE b); i++)
        z[i] -= bridge.A[i];
    return dot(block_size(HERE b), bridge.share, z);
}

static int has_curve(GIVEN const Job *job, int b)
{
    const real kind = *bridge_of(HERE job, b).kind;
    return kind == APPROACHED || kind == BEGUN_WITHIN;
}

static int on_bridge(GIVEN const Job *job, int b, const real *y)
{
    if (!has_curve(HERE job, b))
        return 0;
    const real s = place_on(HERE job, b, y);
    return s >= 0.0 && s <= 1.0;
}

/* Builds the curves that a state needs; J: its rows. One that was found before serves as far as it was built for. */
static void find_bridges(GIVEN Job *job, real t, const real *y, const real *J, real *w)
{
    for (int b = 0; b < N_BLOCKS; b++)
        if (!on_bridge(HERE job, b, y) && *bridge_of(HERE job, b).kind != MISSED
                && block_ratio(HERE b, J) < (has_curve(HERE job, b) ? *bridge_of(HERE job, b).zone : ZONE))
            build_curve(HERE job, t, b, y, w);
}

/* Puts the equations of curves in the place of the rows of blocks that are on them: how every coordinate moves with the
   one that moves most. Returns how many blocks are, or whether branches miss each other. */
static int put_bridges(GIVEN const Job *job, const real *y, real *all)
{
    ARRAY(real, z, WIDEST);
    ARRAY(real, u, WIDEST);
    ARRAY(real, Q, WIDEST);
    ARRAY(real, T, WIDEST);
    ARRAY(real, K, WIDEST);
    int count = 0;
    for (int b = 0; b < N_BLOCKS; b++) {
        const Bridge bridge = bridge_of(HERE job, b);
        const int n = block_size(HERE b), rows = BLOCK_ROW_AT[b + 1] - BLOCK_ROW_AT[b];
        count += *bridge.kind == MISSED;
        if (!on_bridge(HERE job, b, y))
            continue;
        count++;
        scaled_block(HERE b, y, 0, z);
        scaled_block(HERE b, y, 1, u);
        const real v = dot(n, bridge.share, u);
        on_curve(bridge, n, place_on(HERE job, b, y), Q, T, K);
        int leading = 0;
        for (int i = 1; i < n; i++)
            if (fabs(bridge.share[i]) > fabs(bridge.share[leading]))
                leading = i;
        const int *own = BLOCK_U + BLOCK_AT[b];
        for (int k = 0, i = 0; k < rows; k++, i++) {
            const int row = BLOCK_ROW[BLOCK_ROW_AT[b] + k];
            i += i == leading;
            memset(all + AT_J + row*N_U, 0, N_U*sizeof *all);
            all[AT_GAMMA + row] = all[AT_G + row] = all[AT_V + row] = 0.0;
            if (i >= n)
                continue;
            const real by = T[i]/T[leading];
            all[AT_J + row*N_U + own[i]] = 1.0/(COLUMN_SCALE[own[i]]*ROW_SCALE[row]);
            all[AT_J + row*N_U + own[leading]] = -by/(COLUMN_SCALE[own[leading]]*ROW_SCALE[row]);
            all[AT_GAMMA + row] = (K[i] - by*K[leading])*v*v/ROW_SCALE[row];
            all[AT_G + row] = (z[i] - Q[i] - by*(z[leading] - Q[leading]))/ROW_SCALE[row];
            all[AT_V + row] = (u[i] - by*u[leading])/ROW_SCALE[row];
        }
    }
    return count;
}

/* Near branches that miss each other: is a step from y to next long against the distance, or do speeds turn far in
   it? Those that reverse do not turn. */
static int too_far(GIVEN const Job *job, real h, real t, real end, const real *y, const real *next, real *w)
{
    ARRAY(real, all, N_SYSTEM);
    ARRAY(real, before, N_G*(1 + N_Q) + N_V*(1 + N_U) + 1);
    ARRAY(real, u, WIDEST);
    const real *mass = all + AT_M;
    closure(t, y, y + N_Q, job->p, job->c, w, before, job->externals);
    system_at(end, next, next + N_Q, job->p, job->c, w, all, job->externals);
    for (int b = 0; b < N_BLOCKS; b++) {
        const int n = block_size(HERE b);
        real aa = 0.0, ab = 0.0, bb = 0.0;
        if (*bridge_of(HERE job, b).kind != MISSED)
            continue;
        const real ratio = block_ratio(HERE b, before + N_G*(1 + N_Q) + N_V);
        scaled_block(HERE b, y, 1, u);
        if (h*length(n, u) > LEAP*ratio)
            return 1;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                const int r = BLOCK_U[BLOCK_AT[b] + i], s = BLOCK_U[BLOCK_AT[b] + j];
                const real m = s <= r ? mass[r*(r + 1)/2 + s] : mass[s*(s + 1)/2 + r];
                aa += y[N_Q + r]*m*y[N_Q + s];
                ab += y[N_Q + r]*m*next[N_Q + s];
                bb += next[N_Q + r]*m*next[N_Q + s];
            }
        if (aa*bb > 0.0 && fabs(ab) < cos(TURN)*sqrt(aa*bb))
            return 1;
    }
    return 0;
}

/* Is a state where the curve of a block was approached from? */
static int in_front(GIVEN const Job *job, int b, const real *y)
{
    return *bridge_of(HERE job, b).kind == APPROACHED && place_on(HERE job, b, y) < 0.0;
}

/* What is reported of a visit near a singular position; curves behind a visit that is over, or branches left, are
   forgotten. */
static void visit_bridges(GIVEN Job *job, const real *y)
{
    for (int b = 0; b < N_BLOCKS; b++) {
        const Bridge bridge = bridge_of(HERE job, b);
        if (has_curve(HERE job, b) && !(job->ratio < NEAR))
            *bridge.kind = NO_CURVE;
        if (*bridge.kind == MISSED && !job->near)
            *bridge.kind = NO_CURVE;
        if (*bridge.kind == NO_CURVE || !(job->ratio < NEAR))
            continue;
        job->visit[2] = 1 + b;
        job->visit[3] = *bridge.residual;
        job->visit[4] = in_front(HERE job, b, y);
        job->visit[5] = *bridge.kind == MISSED;
    }
}

/* Is the start singular, without a speed that tells its branch? */
static int singular_at_rest(GIVEN const real *y, const real *J)
{
    ARRAY(real, u, WIDEST);
    for (int b = 0; b < N_BLOCKS; b++) {
        scaled_block(HERE b, y, 1, u);
        if (!(block_ratio(HERE b, J) > SURE) && !(length(block_size(HERE b), u) > STILL))
            return 1;
    }
    return 0;
}

