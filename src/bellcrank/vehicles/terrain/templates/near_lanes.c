#ifndef GROUND_LANES_HERE
#define GROUND_LANES_HERE
/* Height, slope and second derivative. */
static inline void ground_jet_lanes(const lanes *g, lanes x, lanes *jet)
{
    const lanes s = x - g[0];
    jet[0] = g[1] + s * (g[2] + s * (g[3] + s * g[4]));
    jet[1] = g[2] + s * (SAME(2.0) * g[3] + SAME(3.0) * s * g[4]);
    jet[2] = SAME(2.0) * g[3] + SAME(6.0) * s * g[4];
    if (any((masks)(g[5] != SAME(0.0)))) {
        const lanes a = g[6] * s + g[7];
        lanes sine, cosine;
        sincos_lanes(1, &a, &sine, &cosine);
        const lanes c = g[5] * cosine;
        jet[0] += c;
        jet[1] -= g[5] * g[6] * sine;
        jet[2] -= g[6] * g[6] * c;
    }
}

/* The pieces that hold x, and where they begin and end. */
static inline void ground_piece_lanes(const Ground *ground, lanes x, lanes *line, lanes *left, lanes *right)
{
    int here = ground_piece(ground, LANE(x, 0));
    *left = SAME(here > 0 ? ground->starts[here - 1] : -INFINITY);
    *right = SAME(here < ground->n ? ground->starts[here] : INFINITY);
    for (int i = 0; i < 10; i++)
        line[i] = SAME(ground_row(ground, here)[i]);
    if (!any(~((masks)(x >= *left) & (masks)(x < *right))))
        return;
    for (int j = 1; j < N_LANES; j++) {
        here = ground_piece(ground, LANE(x, j));
        LANE(*left, j) = here > 0 ? ground->starts[here - 1] : -INFINITY;
        LANE(*right, j) = here < ground->n ? ground->starts[here] : INFINITY;
        for (int i = 0; i < 10; i++)
            LANE(line[i], j) = ground_row(ground, here)[i];
    }
}

/* What lies beyond the reach of a point has no distance, normal or foot of its own. */
static inline void ground_reached_lanes(
    lanes x, lanes reach, lanes distance, lanes nx, lanes nz, lanes foot, lanes *near)
{
    const masks far = distance >= reach;
    near[0] = choose(far, reach, distance);
    near[1] = choose(far, SAME(0.0), nx);
    near[2] = choose(far, SAME(1.0), nz);
    near[3] = choose(far, x, foot);
}

/* The same where all lanes stand over one piece that is straight, and nothing else is within reach; zero elsewhere. */
static inline int ground_straight_lanes(const Ground *ground, lanes x, lanes z, lanes reach, lanes *near)
{
    const int here = ground_piece(ground, LANE(x, 0));
    const double *g = ground_row(ground, here);
    if (g[3] != 0.0 || g[4] != 0.0 || g[5] != 0.0)
        return 0;
    const lanes left = SAME(here > 0 ? ground->starts[here - 1] : -INFINITY);
    const lanes right = SAME(here < ground->n ? ground->starts[here] : INFINITY);
    const lanes slope = SAME(g[2]), shrink = SAME(g[9]), above = z - (SAME(g[1]) + (x - SAME(g[0])) * slope);
    const lanes best = choose(above < reach, lanes_abs(above), reach);
    if (any(~((masks)(x >= left) & (masks)(x < right) & (masks)(x - best >= left) & (masks)(x + best <= right))))
        return 0;
    const lanes distance = above * shrink;
    ground_reached_lanes(x, reach, distance, -slope * shrink, shrink, x + distance * slope * shrink, near);
    return 1;
}

/* Distance, normal x, normal z and foot x as `ground_near` finds them. Side by side where nothing is within reach but
   one piece that is straight or has one foot; lane by lane elsewhere. */
static inline void ground_near_lanes(const Ground *ground, lanes x, lanes z, lanes reach, lanes *near)
{
    if (ground_straight_lanes(ground, x, z, reach, near))
        return;
    lanes line[10], jet[3], left, right;
    ground_piece_lanes(ground, x, line, &left, &right);
    const masks straight = (masks)(line[3] == SAME(0.0)) & (masks)(line[4] == SAME(0.0))
                           & (masks)(line[5] == SAME(0.0));
    ground_jet_lanes(line, x, jet);
    const lanes below = jet[0], above = z - below, best = choose(above < reach, lanes_abs(above), reach);
    const masks alone = (masks)(x - best >= left) & (masks)(x + best <= right);
    const masks one = ~straight & alone & (masks)(best > SAME(0.0))
                      & (masks)(line[8] * lanes_abs(above) < SAME(1.0));
    const masks rest = ~((straight & alone) | one);
    lanes distance = above * line[9], nx = -line[2] * line[9], nz = line[9], foot = x + distance * line[2] * line[9];
    if (any(one)) {
        lanes s = x + above * jet[1] / (SAME(1.0) + jet[1] * jet[1]), h = below;
        masks going = one;
        for (int k = 0; k < GROUND_FEET && any(going); k++) {
            ground_jet_lanes(line, s, jet);
            const lanes lack = jet[0] - z, slope = SAME(1.0) + jet[1] * jet[1] + lack * jet[2];
            const lanes step = -(s - x + lack * jet[1]) / slope;
            s = choose(going, s + step, s);
            h = choose(going, jet[0] + step * (jet[1] + SAME(0.5) * step * jet[2]), h);
            going &= ~(masks)(lanes_abs(step) <= SAME(GROUND_FOOT) * (SAME(1.0) + lanes_abs(s)));
        }
        const lanes d = lanes_sqrt((s - x) * (s - x) + (h - z) * (h - z));
        const lanes side = choose(z >= below, SAME(1.0), SAME(-1.0));
        distance = choose(one, side * d, distance);
        nx = choose(one, side * (x - s) / d, nx);
        nz = choose(one, side * (z - h) / d, nz);
        foot = choose(one, s, foot);
    }
    ground_reached_lanes(x, reach, distance, nx, nz, foot, near);
    if (any(rest))
        for (int j = 0; j < N_LANES; j++)
            if (rest[j]) {
                double found[5];
                ground_near(ground, LANE(x, j), LANE(z, j), LANE(reach, j), found);
                for (int i = 0; i < 4; i++)
                    LANE(near[i], j) = found[i];
            }
}
#endif
