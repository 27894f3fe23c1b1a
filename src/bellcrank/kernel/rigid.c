/* ---- rigid wheels: flight, impact, rolling, with the time of every change found within the step */

#include "tables/wheels.h"

#define N_UNITS (3*N_WHEELS)
enum { X, Z, VX, VZ, SPIN, AX, AZ, TURN_RATE, N_FACTS }; /* of a wheel, as `wheels_at` gives them */
/* of a wheel in job->modes */
enum { ROLLS, PART, OFF, NORMAL_X, NORMAL_Z, FOOT_X, FOOT_Z, OTHER_X, OTHER_Z, TURNED, TURNED_AT, N_MODES };
/* values of ROLLS: held between the two sides of a notch, with normals NORMAL and OTHER */
enum { FLIES, IS_ROLLING, IS_HELD };
enum { DISTANCE, NX, NZ };                          /* of near */
enum { IMPACT, LANDS, LEAVES, WEDGED };            /* events */
enum { SLIDES, RUBS_AT_IMPACT, DOES_NOT_SLIP };     /* values of WHEEL_GRIP */

typedef struct {
    int wheel;
    double d[3]; /* force and moment of unit size: x, z, moment */
} UnitLoad;

static double *mode(Job *job, int i) { return job->modes + i*N_MODES; }

static void nearest_ground(GIVEN int i, double x, double z, double *near)
{
    ground_near(WHEEL_GROUND[i], x, z, WHEEL_RADIUS[i] + 1.0, near);
}

/* The part of the ground that a wheel rolls on; returns whether it is still over it. */
static int on_own_part(GIVEN Job *job, int i, double x, double z, double *near, double *bend)
{
    memcpy(near, mode(job, i) + OFF, 5*sizeof *near);
    return ground_on(WHEEL_GROUND[i], (int)mode(job, i)[PART], x, z, near, bend);
}

static void report_wheel(Job *job, int wheel, int what, double t)
{
    if (job->n_told == job->most_told)
        return;
    double *event = job->told + 3*job->n_told++;
    event[0] = t;
    event[1] = wheel;
    event[2] = what;
}

/* Sets inputs, and in their places what the ground exerts; forces may be NULL. */
static void apply(GIVEN Job *job, double t, const double *forces, double *w)
{
    if (set_inputs(HERE job, t, w))
        job->unknown = 1;
    job->externals->live = 0;
    for (int i = 0; i < N_WHEELS && forces; i++)
        for (int k = 0; k < 3; k++)
            if (WHEEL_INPUT[3*i + k] >= 0)
                w[WHEEL_INPUT[3*i + k]] = forces[3*i + k];
}

static void observe(GIVEN Job *job, double t, const double *y, const double *forces, double *facts, double *w)
{
    apply(HERE job, t, forces, w);
    wheels_at(t, y, y + N_Q, job->p, job->c, w, facts, job->externals);
}

static void speeds(GIVEN Job *job, double t, const double *y, const double *forces, double *qd, double *ud, double *w)
{
    apply(HERE job, t, forces, w);
    derivatives(t, y, y + N_Q, job->p, job->c, w, qd, ud, job->externals);
}

static int directions(GIVEN int i, const double *near, UnitLoad *units)
{
    units[0] = (UnitLoad){i, {near[NX], near[NZ], 0.0}};
    if (WHEEL_GRIP[i] != DOES_NOT_SLIP)
        return 1;
    units[1] = (UnitLoad){i, {near[NZ], -near[NX], -WHEEL_RADIUS[i]}};
    return 2;
}

/* The same for a wheel in its present mode: one that is held moves in no way. */
static int held_by(GIVEN Job *job, int i, const double *near, UnitLoad *units)
{
    if (mode(job, i)[ROLLS] != IS_HELD)
        return directions(HERE i, near, units);
    units[0] = (UnitLoad){i, {1.0, 0.0, 0.0}};
    units[1] = (UnitLoad){i, {0.0, 1.0, 0.0}};
    units[2] = (UnitLoad){i, {0.0, 0.0, -WHEEL_RADIUS[i]}};
    return WHEEL_GRIP[i] == DOES_NOT_SLIP ? 3 : 2;
}

/* Component of velocity or acceleration (first: VX or AX) that a unit force works on. */
static double component(const double *facts, int first, const UnitLoad *unit)
{
    const double *v = facts + unit->wheel*N_FACTS + first, *d = unit->d;
    return d[0]*v[0] + d[1]*v[1] + (double)((d[2] > 0.0) - (d[2] < 0.0))*v[2];
}

static void spread(GIVEN const UnitLoad *units, int n, const double *sizes, double *forces)
{
    memset(forces, 0, 3*N_WHEELS*sizeof *forces);
    for (int u = 0; u < n; u++)
        for (int k = 0; k < 3; k++)
            forces[3*units[u].wheel + k] += sizes[u]*units[u].d[k];
}

/* Accelerations along units per unit force; base: facts without forces. */
static void response(GIVEN Job *job, double t, const double *y, const UnitLoad *units, int n, const double *base,
    double *matrix, double *w)
{
    ARRAY(double, forces, 3*N_WHEELS);
    ARRAY(double, facts, N_WHEELS*N_FACTS);
    double one = 1.0;
    for (int c = 0; c < n; c++) {
        spread(HERE units + c, 1, &one, forces);
        observe(HERE job, t, y, forces, facts, w);
        for (int r = 0; r < n; r++)
            matrix[r*n + c] = component(facts, AX, units + r) - component(base, AX, units + r);
    }
}

/* The smallest x with least error of A x = b, A symmetric: by its eigenvectors (Jacobi's rotations). */
static void least(GIVEN int n, double *A, double *b)
{
    ARRAY(double, V, N_UNITS*N_UNITS);
    ARRAY(double, x, N_UNITS);
    double most = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            V[i*n + j] = (double)(i == j);
            A[i*n + j] = i < j ? 0.5*(A[i*n + j] + A[j*n + i]) : A[i > j ? j*n + i : i*n + i];
        }
    for (int sweep = 0; sweep < 30; sweep++) {
        double off = 0.0, on = 0.0;
        for (int i = 0; i < n; i++) {
            on += A[i*n + i]*A[i*n + i];
            for (int j = i + 1; j < n; j++)
                off += A[i*n + j]*A[i*n + j];
        }
        if (!(off > 1e-34*on))
            break;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                if (A[p*n + q] == 0.0)
                    continue;
                const double theta = (A[q*n + q] - A[p*n + p])/(2*A[p*n + q]);
                const double t = (theta < 0 ? -1.0 : 1.0)/(fabs(theta) + sqrt(theta*theta + 1));
                const double c = 1/sqrt(t*t + 1), s = t*c;
                for (int k = 0; k < n; k++) {
                    const double a = A[k*n + p], d = A[k*n + q];
                    A[k*n + p] = c*a - s*d;
                    A[k*n + q] = s*a + c*d;
                }
                for (int k = 0; k < n; k++) {
                    const double a = A[p*n + k], d = A[q*n + k], e = V[k*n + p], f = V[k*n + q];
                    A[p*n + k] = c*a - s*d;
                    A[q*n + k] = s*a + c*d;
                    V[k*n + p] = c*e - s*f;
                    V[k*n + q] = s*e + c*f;
                }
            }
    }
    for (int i = 0; i < n; i++)
        most = fabs(A[i*n + i]) > most ? fabs(A[i*n + i]) : most;
    memset(x, 0, N_UNITS*sizeof *x);
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        if (!(fabs(A[i*n + i]) > WHEEL_STUCK*most))
            continue;
        for (int k = 0; k < n; k++)
            sum += V[k*n + i]*b[k];
        for (int k = 0; k < n; k++)
            x[k] += V[k*n + i]*sum/A[i*n + i];
    }
    memcpy(b, x, (size_t)n*sizeof *b);
}

/* The same; directly where it has one solution. x replaces b. */
static void solve_least(GIVEN int n, double *A, double *b)
{
    ARRAY(double, L, N_UNITS*N_UNITS);
    ARRAY(double, x, N_UNITS);
    double largest = 0.0;
    memcpy(L, A, (size_t)(n*n)*sizeof *L);
    memcpy(x, b, (size_t)n*sizeof *x);
    for (int i = 0; i < n; i++)
        largest = L[i*n + i] > largest ? L[i*n + i] : largest;
    for (int k = 0; k < n; k++) {
        if (!(L[k*n + k] > 1e-9*largest)) {
            least(HERE n, A, b);
            return;
        }
        for (int i = k + 1; i < n; i++) {
            const double factor = L[i*n + k]/L[k*n + k];
            for (int j = k + 1; j < n; j++)
                L[i*n + j] -= factor*L[k*n + j];
            x[i] -= factor*x[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++)
            x[k] -= L[k*n + j]*x[j];
        b[k] = x[k] /= L[k*n + k];
    }
}

/* ---- rolling */

/* The lesser load of the two sides of a notch; friction, which takes the moment, is shared by them. */
static double held_load(GIVEN Job *job, int i, const double *force, int *side)
{
    const double *m = mode(job, i), share = -0.5*force[2]/WHEEL_RADIUS[i];
    const double x = force[0] - share*(m[NORMAL_Z] + m[OTHER_Z]), z = force[1] + share*(m[NORMAL_X] + m[OTHER_X]);
    const double det = m[NORMAL_X]*m[OTHER_Z] - m[NORMAL_Z]*m[OTHER_X];
    const double one = (x*m[OTHER_Z] - z*m[OTHER_X])/det, other = (m[NORMAL_X]*z - m[NORMAL_Z]*x)/det;
    *side = other < one;
    return other < one ? other : one;
}

/* Forces of the ground on the wheels that roll, and loads: their parts along the normal. Returns how many roll. */
static int ground_forces(GIVEN Job *job, double t, const double *y, double *forces, double *loads, double *w)
{
    ARRAY(double, base, N_WHEELS*N_FACTS);
    ARRAY(double, matrix, N_UNITS*N_UNITS);
    ARRAY(double, right, N_UNITS);
    ARRAY(double, brakes, 3*N_WHEELS);
    ARRAY(double, near, 5*N_WHEELS);
    ARRAY(UnitLoad, units, N_UNITS);
    int n = 0, rolling = 0, braked = 0;
    for (int i = 0; i < N_WHEELS; i++)
        rolling += mode(job, i)[ROLLS] != FLIES;
    memset(forces, 0, 3*N_WHEELS*sizeof *forces);
    if (!rolling)
        return 0;
    observe(HERE job, t, y, NULL, base, w);
    memset(brakes, 0, (3*N_WHEELS)*sizeof *brakes);
    for (int i = 0; i < N_WHEELS; i++) {
        const double *f = base + i*N_FACTS;
        double *m = near + 5*i, bend;
        if (mode(job, i)[ROLLS] == FLIES)
            continue;
        if (mode(job, i)[ROLLS] == IS_HELD) {
            const int count = held_by(HERE job, i, m, units + n);
            memset(right + n, 0, (size_t)count*sizeof *right);
            n += count;
            continue;
        }
        on_own_part(HERE job, i, f[X], f[Z], m, &bend);
        const double along = m[NZ]*f[VX] - m[NX]*f[VZ], rise = m[NX]*f[VX] + m[NZ]*f[VZ];
        right[n] = -bend*along*along; /* rates of the unit vectors: n' = bend*along*t, t' = -bend*along*n */
        const int first = n;
        n += directions(HERE i, m, units + n);
        if (n == first + 2)
            right[first + 1] = bend*along*rise;
        const double size = -WHEEL_RESISTANCE[i]*along;
        braked |= size != 0.0;
        brakes[3*i] = size*m[NZ];
        brakes[3*i + 1] = -size*m[NX];
    }
    response(HERE job, t, y, units, n, base, matrix, w);
    if (braked)
        observe(HERE job, t, y, brakes, base, w);
    for (int u = 0; u < n; u++)
        right[u] -= component(base, AX, units + u);
    solve_least(HERE n, matrix, right);
    spread(HERE units, n, right, forces);
    for (int k = 0; k < 3*N_WHEELS; k++)
        forces[k] += brakes[k];
    for (int i = 0, side; i < N_WHEELS && loads; i++)
        if (mode(job, i)[ROLLS] == IS_HELD)
            loads[i] = held_load(HERE job, i, forces + 3*i, &side);
        else if (mode(job, i)[ROLLS] != FLIES)
            loads[i] = forces[3*i]*near[5*i + NX] + forces[3*i + 1]*near[5*i + NZ];
    return rolling;
}

/* Inputs at a state, with what the ground exerts. */
static void with_ground(GIVEN Job *job, double t, const double *y, double *w)
{
    ARRAY(double, forces, 3*N_WHEELS);
    apply(HERE job, t, ground_forces(HERE job, t, y, forces, NULL, w) ? forces : NULL, w);
}

/* The wheel with the least load, and that load; -1 if none rolls. */
static int least_load(GIVEN Job *job, double t, const double *y, double *load, double *w)
{
    ARRAY(double, forces, 3*N_WHEELS);
    ARRAY(double, loads, N_WHEELS);
    int found = -1;
    *load = 0.0;
    if (!ground_forces(HERE job, t, y, forces, loads, w))
        return -1;
    for (int i = 0; i < N_WHEELS; i++)
        if (mode(job, i)[ROLLS] != FLIES && (found < 0 || loads[i] < *load)) {
            found = i;
            *load = loads[i];
        }
    return found;
}

/* Lets a wheel in a notch roll on the side that carries it. */
static void let_go(GIVEN Job *job, double t, int i, const double *y, double *w)
{
    ARRAY(double, forces, 3*N_WHEELS);
    double near[5], bend, *m = mode(job, i);
    int side;
    ground_forces(HERE job, t, y, forces, NULL, w);
    held_load(HERE job, i, forces + 3*i, &side);
    if (!side) { /* the first side carries less */
        m[NORMAL_X] = m[OTHER_X];
        m[NORMAL_Z] = m[OTHER_Z];
    }
    ARRAY(double, facts, N_WHEELS*N_FACTS);
    observe(HERE job, t, y, NULL, facts, w);
    const double *f = facts + i*N_FACTS, off = WHEEL_ASIDE*WHEEL_RADIUS[i];
    /* deeper in that side than in the other */
    nearest_ground(HERE i, f[X] - off*m[NORMAL_X], f[Z] - off*m[NORMAL_Z], near);
    m[ROLLS] = IS_ROLLING;
    m[PART] = ground_shape(WHEEL_GROUND[i], near, &bend);
    memcpy(m + OFF, near, sizeof near);
    m[TURNED] = 0.0;
}

/* Lets go of wheels that the ground would have to pull. */
static void release(GIVEN Job *job, double t, const double *y, double *w)
{
    for (int count = 0; count <= N_WHEELS; count++) {
        double load;
        const int i = least_load(HERE job, t, y, &load, w);
        if (load >= 0.0)
            return;
        if (mode(job, i)[ROLLS] == IS_HELD) {
            let_go(HERE job, t, i, y, w);
            continue;
        }
        mode(job, i)[ROLLS] = FLIES;
        report_wheel(job, i, LEAVES, t);
    }
}

/* ---- impact */

/* Changes speeds by impulses along unit forces; with `shift`, coordinates as these would change them. */
static void push(GIVEN Job *job, double t, double *y, const UnitLoad *units, int n, const double *sizes, int shift,
    double *w)
{
    ARRAY(double, forces, 3*N_WHEELS);
    ARRAY(double, qd, N_Q + 1);
    ARRAY(double, with_forces, N_U + 1);
    ARRAY(double, without, N_U + 1);
    ARRAY(double, moving, N_S);
    spread(HERE units, n, sizes, forces);
    speeds(HERE job, t, y, forces, qd, with_forces, w);
    speeds(HERE job, t, y, NULL, qd, without, w);
    memcpy(moving, y, N_S*sizeof *moving);
    for (int j = 0; j < N_U; j++) {
        const double change = with_forces[j] - without[j];
        moving[N_Q + j] = change;
        if (!shift)
            y[N_Q + j] += change;
    }
    if (!shift)
        return;
    speeds(HERE job, t, moving, NULL, qd, without, w);
    for (int j = 0; j < N_Q; j++)
        y[j] += qd[j];
}

/* The ground that a wheel is on and moves into, if any. */
static int hit(GIVEN Job *job, int i, int count, double t, const double *y, double *near, double *w)
{
    ARRAY(double, all, N_WHEELS*N_FACTS);
    double ahead[5], bend, reach = WHEEL_AHEAD;
    if (mode(job, i)[ROLLS] == IS_HELD)
        return 0;
    observe(HERE job, t, y, NULL, all, w);
    const double *f = all + i*N_FACTS, size = hypot(f[VX], f[VZ]);
    const double enters = -WHEEL_CREEP*(1 + size)*(1 + WHEEL_AFTER*count);
    nearest_ground(HERE i, f[X], f[Z], near);
    if (near[DISTANCE] - WHEEL_RADIUS[i] > WHEEL_TOUCH)
        return 0;
    if (near[NX]*f[VX] + near[NZ]*f[VZ] < enters)
        return 1;
    if (mode(job, i)[ROLLS] != FLIES) {
        on_own_part(HERE job, i, f[X], f[Z], ahead, &bend);
        if (bend*WHEEL_RADIUS[i] < WHEEL_NARROW)
            reach = WHEEL_PEEK*WHEEL_RADIUS[i]/(size > WHEEL_CREEP ? size : WHEEL_CREEP);
    }
    nearest_ground(HERE i, f[X] + reach*f[VX], f[Z] + reach*f[VZ], ahead);
    if (ahead[NX]*f[VX] + ahead[NZ]*f[VZ] < enters) {
        memcpy(near, ahead, sizeof ahead);
        return 1;
    }
    const double rise = near[NX]*f[VX] + near[NZ]*f[VZ], pull = -near[NX]*f[AX] - near[NZ]*f[AZ];
    /* lies on the ground, or would come back at once */
    return mode(job, i)[ROLLS] == FLIES && pull > 0.0 && 4*rise <= pull*job->h;
}

/* A new normal of a wheel that rolls: how often has it gone to and fro between the sides of a notch? */
static void note_turn(Job *job, int i, const double *near, double t)
{
    double *m = mode(job, i);
    if (fabs(m[NORMAL_X]*near[NZ] - m[NORMAL_Z]*near[NX]) < WHEEL_BENT)
        return;
    const int back = fabs(m[OTHER_X]*near[NZ] - m[OTHER_Z]*near[NX]) < WHEEL_BENT
        && t - m[TURNED_AT] < WHEEL_SOON*job->h;
    m[TURNED] = back ? m[TURNED] + 1 : 0.0;
    m[TURNED_AT] = t;
    m[OTHER_X] = m[NORMAL_X];
    m[OTHER_Z] = m[NORMAL_Z];
}

static void strike(GIVEN Job *job, int i, const double *near, int count, double t, double *y, double *w)
{
    ARRAY(double, base, N_WHEELS*N_FACTS);
    double before[2] = {0.0, 0.0}, after[2], matrix[4], copy[4], impulse[2], bend;
    UnitLoad units[2];
    observe(HERE job, t, y, NULL, base, w);
    const double *f = base + i*N_FACTS, creep = WHEEL_CREEP*(1 + hypot(f[VX], f[VZ]));
    int n = directions(HERE i, near, units);
    if (WHEEL_GRIP[i] == RUBS_AT_IMPACT && component(base, VX, units) < -creep) /* else it lies on the ground */
        units[n++] = (UnitLoad){i, {near[NZ], -near[NX], 0.0}};
    for (int u = 0; u < n; u++)
        before[u] = component(base, VX, units + u);
    const double pull = -(near[NX]*f[AX] + near[NZ]*f[AZ]);
    const double rebound = -WHEEL_RESTITUTION[2*i]*before[0];
    const int rolls = pull > 0.0 && 2*rebound <= pull*job->h, stops = rolls || count > WHEEL_IMPACTS/2;
    after[0] = stops ? 0.0 : rebound;
    after[1] = stops && WHEEL_GRIP[i] == DOES_NOT_SLIP ? 0.0 : WHEEL_RESTITUTION[2*i + 1]*before[1];
    response(HERE job, t, y, units, n, base, matrix, w);
    double work = 0.0;
    for (int pass = 0; pass < 2; pass++) {
        memcpy(copy, matrix, sizeof copy);
        for (int u = 0; u < n; u++)
            impulse[u] = after[u] - before[u];
        solve_least(HERE n, copy, impulse);
        for (int u = 0; u < n; u++)
            work += impulse[u]*(before[u] + after[u]);
        if (pass || !(work > 0.0)) /* twice the work of the impulse: unequal restitution must not add energy */
            break;
        for (int u = 0; u < n; u++)
            after[u] = -WHEEL_RESTITUTION[2*i]*before[u];
    }
    push(HERE job, t, y, units, n, impulse, 0, w);
    if (rolls && mode(job, i)[ROLLS] == FLIES)
        report_wheel(job, i, LANDS, t);
    else if (!rolls && count == 0)
        report_wheel(job, i, IMPACT, t);
    mode(job, i)[ROLLS] = rolls ? IS_ROLLING : FLIES;
    mode(job, i)[PART] = ground_shape(WHEEL_GROUND[i], near, &bend);
    if (rolls) {
        note_turn(job, i, near, t);
        memcpy(mode(job, i) + OFF, near, 5*sizeof *near);
    }
}

/* The ground of a wheel that rolls on: where it leaves its part, the one that it moves along. */
static void roll_on(GIVEN Job *job, int i, const double *f, double t, double *near)
{
    double ahead[5], bend, *m = mode(job, i);
    on_own_part(HERE job, i, f[X], f[Z], near, &bend);
    if (!on_own_part(HERE job, i, f[X] + WHEEL_AHEAD*f[VX], f[Z] + WHEEL_AHEAD*f[VZ], ahead, &bend)) {
        m[PART] = ground_next(WHEEL_GROUND[i], (int)m[PART], f[X] + WHEEL_AHEAD*f[VX], f[Z] + WHEEL_AHEAD*f[VZ], ahead);
        ground_on(WHEEL_GROUND[i], (int)m[PART], f[X], f[Z], ahead, &bend);
        memcpy(near, ahead, sizeof ahead);
        note_turn(job, i, near, t);
    }
    memcpy(m + OFF, near, 5*sizeof *near);
}

/* Takes wheels that roll back onto the ground, and stops what moves them off it. */
static void keep_on(GIVEN Job *job, double t, double *y, double *w)
{
    ARRAY(double, base, N_WHEELS*N_FACTS);
    ARRAY(double, matrix, N_UNITS*N_UNITS);
    ARRAY(double, right, N_UNITS);
    double near[5];
    ARRAY(UnitLoad, units, N_UNITS);
    for (int pass = 0; pass < 2; pass++) {
        int n = 0;
        observe(HERE job, t, y, NULL, base, w);
        for (int i = 0; i < N_WHEELS; i++) {
            const double *f = base + i*N_FACTS;
            if (mode(job, i)[ROLLS] == FLIES)
                continue;
            if (mode(job, i)[ROLLS] == IS_ROLLING) {
                double bend;
                if (pass)
                    roll_on(HERE job, i, f, t, near);
                else
                    on_own_part(HERE job, i, f[X], f[Z], near, &bend);
                if (mode(job, i)[TURNED] >= WHEEL_FLIPS) {
                    mode(job, i)[ROLLS] = IS_HELD;
                    report_wheel(job, i, WEDGED, t);
                }
            }
            const int count = held_by(HERE job, i, near, units + n);
            memset(right + n, 0, (size_t)count*sizeof *right);
            if (mode(job, i)[ROLLS] == IS_ROLLING)
                right[n] = WHEEL_RADIUS[i] - near[DISTANCE];
            n += count;
        }
        if (!n)
            return;
        response(HERE job, t, y, units, n, base, matrix, w);
        for (int u = 0; u < n && pass; u++)
            right[u] = -component(base, VX, units + u);
        solve_least(HERE n, matrix, right);
        push(HERE job, t, y, units, n, right, !pass, w);
    }
}

/* Deals with all wheels that touch the ground: impacts, begin of rolling; those that roll stay on it. */
static void land(GIVEN Job *job, double t, double *y, double *w)
{
    ARRAY(double, near, 5*N_WHEELS);
    ARRAY(int, hits, N_WHEELS);
    for (int count = 0; count < WHEEL_IMPACTS; count++) {
        int any = 0;
        for (int i = 0; i < N_WHEELS; i++)
            any |= hits[i] = hit(HERE job, i, count, t, y, near + 5*i, w);
        if (!any)
            break;
        for (int i = 0; i < N_WHEELS; i++)
            if (hits[i])
                strike(HERE job, i, near + 5*i, count, t, y, w);
    }
    keep_on(HERE job, t, y, w);
}

/* Moves wheels that are below the ground out of it; how deep each was, if it was, stands in job->depths then. */
static void raise_all(GIVEN Job *job, double t, double *y, double *w)
{
    ARRAY(double, base, N_WHEELS*N_FACTS);
    for (int turn = 0, deep = 1; deep && turn < WHEEL_RAISES; turn++) {
        deep = 0;
        observe(HERE job, t, y, NULL, base, w);
        for (int i = 0; i < N_WHEELS; i++) {
            double near[5], matrix;
            nearest_ground(HERE i, base[i*N_FACTS + X], base[i*N_FACTS + Z], near);
            const double depth = WHEEL_RADIUS[i] - near[DISTANCE];
            const UnitLoad unit = {i, {near[NX], near[NZ], 0.0}};
            if (!(depth > WHEEL_TOUCH))
                continue;
            deep = 1;
            if (!(job->depths[i] > 0.0))
                job->depths[i] = depth;
            response(HERE job, t, y, &unit, 1, base, &matrix, w);
            const double size = depth/matrix;
            push(HERE job, t, y, &unit, 1, &size, 1, w);
        }
    }
}

/* The same at the start of a run. */
EXPORT int raise_wheels(GIVEN Job *job)
{
    ARRAY(double, w, N_W + 1);
    memset(w, 0, (N_W + 1)*sizeof *w);
    job->externals->failed = 0;
    raise_all(HERE job, job->t, job->y, w);
    return job->externals->failed ? EXTERNAL_FAILED : FINISHED;
}

#if HAS_LOOKS
/* Takes a state that was changed: wheels that roll do so on if they still can, all others land or fly. */
static void stand_again(GIVEN Job *job, double t, double *y, double *w)
{
    ARRAY(double, base, N_WHEELS*N_FACTS);
    observe(HERE job, t, y, NULL, base, w);
    for (int i = 0; i < N_WHEELS; i++) {
        const double *f = base + i*N_FACTS;
        const int held = mode(job, i)[ROLLS] == IS_HELD;
        double near[5], bend, slip = 0.0;
        UnitLoad units[3];
        if (mode(job, i)[ROLLS] == FLIES)
            continue;
        memcpy(near, mode(job, i) + OFF, sizeof near);
        if (!held)
            on_own_part(HERE job, i, f[X], f[Z], near, &bend);
        const int n = held_by(HERE job, i, near, units), off = fabs(near[DISTANCE] - WHEEL_RADIUS[i]) > WHEEL_TOUCH;
        for (int u = 0; u < n; u++)
            slip = fmax(slip, fabs(component(base, VX, units + u)));
        if ((off && !held) || slip > WHEEL_CREEP*(1 + hypot(f[VX], f[VZ])))
            mode(job, i)[ROLLS] = FLIES;
    }
    raise_all(HERE job, t, y, w);
    land(HERE job, t, y, w);
}
#endif

/* ---- a step */

/* A step in which wheels on curved ground turn their normal by a small angle. */
static double longest(GIVEN Job *job, double t, const double *y, double *w)
{
    ARRAY(double, facts, N_WHEELS*N_FACTS);
    double near[5], bend, h = INFINITY;
    int seen = 0;
    for (int i = 0; i < N_WHEELS; i++) {
        if (mode(job, i)[ROLLS] != IS_ROLLING)
            continue;
        if (!seen)
            observe(HERE job, t, y, NULL, facts, w);
        seen = 1;
        const double *f = facts + i*N_FACTS;
        on_own_part(HERE job, i, f[X], f[Z], near, &bend);
        if (bend != 0.0) { /* it may be small here and large a little farther on */
            const double turn = fabs(bend) > WHEEL_FINE/WHEEL_RADIUS[i] ? fabs(bend) : WHEEL_FINE/WHEEL_RADIUS[i];
            const double rate = turn*hypot(f[VX], f[VZ]), limit = WHEEL_BENT/(rate > WHEEL_CREEP ? rate : WHEEL_CREEP);
            h = limit < h ? limit : h;
        }
    }
    return h > WHEEL_SHORTEST*job->h ? h : WHEEL_SHORTEST*job->h;
}

/* How near to the ground wheels may come in a step; one that has got into it, in a narrow place, may leave it. */
static void floors(GIVEN Job *job, double t, const double *y, double *floor, double *w)
{
    ARRAY(double, facts, N_WHEELS*N_FACTS);
    double near[5];
    observe(HERE job, t, y, NULL, facts, w);
    for (int i = 0; i < N_WHEELS; i++) {
        nearest_ground(HERE i, facts[i*N_FACTS + X], facts[i*N_FACTS + Z], near);
        const double usual = WHEEL_RADIUS[i] - (mode(job, i)[ROLLS] != FLIES ? WHEEL_TOUCH : 0.0);
        const double now = near[DISTANCE] - WHEEL_DEEPER;
        floor[i] = near[DISTANCE] < usual && now < usual ? now : usual;
    }
}

/* Has a wheel in flight entered the ground, or a wheel that rolls come to another part of it? */
static int changed(GIVEN Job *job, double t, const double *y, const double *floor, double *w)
{
    ARRAY(double, facts, N_WHEELS*N_FACTS);
    double near[5], bend, load;
    observe(HERE job, t, y, NULL, facts, w);
    for (int i = 0; i < N_WHEELS; i++) {
        const int rolls = mode(job, i)[ROLLS] != FLIES;
        if (mode(job, i)[ROLLS] == IS_HELD)
            continue;
        nearest_ground(HERE i, facts[i*N_FACTS + X], facts[i*N_FACTS + Z], near);
        if (near[DISTANCE] < floor[i])
            return 1;
        if (rolls && !on_own_part(HERE job, i, facts[i*N_FACTS + X], facts[i*N_FACTS + Z], near, &bend))
            return 1;
    }
    least_load(HERE job, t, y, &load, w);
    return load < 0.0;
}

static int attempt(GIVEN Job *job, double h, double t, double end, const double *y, double *next, double *w)
{
    ARRAY(double, k, N_S);
    const int failed = rates(HERE job, 0, t, y, k, w);
    return failed ? failed : advance(HERE job, h, t, t + h/2, end, y, k, next, w);
}

/* A step, or a part of one: goes on from change to change. */
static int rigid_step(GIVEN Job *job, double h, double t, double middle, double end, const double *y, const double *k,
    double *next, double *w)
{
    ARRAY(double, state, N_S);
    double left = h;
    int failed;
    ARRAY(double, floor, N_WHEELS);
    ARRAY(double, trial, N_S);
    (void)t;
    (void)middle;
    (void)k;
    t = job->from_time;
    memcpy(state, y, N_S*sizeof *state);
    while (left > 0.0) {
        release(HERE job, t, state, w);
        floors(HERE job, t, state, floor, w);
        const double most = longest(HERE job, t, state, w);
        double length = left < most ? left : most, then = length == left ? end : t + length;
        if ((failed = attempt(HERE job, length, t, then, state, next, w)) || !all_finite(HERE next))
            return failed;
        if (changed(HERE job, then, next, floor, w)) {
            double good = 0.0, bad = length;
            for (int n = 0; n < WHEEL_HALVINGS; n++) {
                const double mid = 0.5*(good + bad);
                if (!(good < mid && mid < bad) || bad - good < WHEEL_INSTANT*(t > 1.0 ? t : 1.0))
                    break;
                if ((failed = attempt(HERE job, mid, t, t + mid, state, trial, w)))
                    return failed;
                if (changed(HERE job, t + mid, trial, floor, w)) {
                    bad = mid;
                    memcpy(next, trial, N_S*sizeof *trial);
                } else
                    good = mid;
            }
            length = bad;
        }
        t = length == left ? end : t + length;
        land(HERE job, t, next, w);
        if (job->unknown)
            return INPUT_FAILED;
        if (job->externals->failed)
            return EXTERNAL_FAILED;
        memcpy(state, next, N_S*sizeof *state);
        if (!all_finite(HERE next))
            return FINISHED;
        left = length < left ? left - length : 0.0;
    }
    return FINISHED;
}

