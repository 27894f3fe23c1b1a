/* A model as a kernel knows it that was compiled before: its sizes, functions and tables. */

typedef void (*Evaluated)(real t, const real *q, const real *u, const real *p, const real *c, const real *w,
    real *out, Externals *x);
typedef void (*Rates)(real t, const real *q, const real *u, const real *p, const real *c, const real *w,
    real *qd, real *ud, Externals *x);
typedef int Entry[2];
typedef const struct Ground *GroundOf;

typedef struct Model {
    /* parts that it has */
    int32_t LOOPS, CORRECTION, BRIDGES, SIDES, DAE, WHEELS, STIFF, SLOPES;
    int32_t closure_inputs, remembers;
    /* sizes, and functions of every model */
    int32_t n_q, n_u, n_s, n_i, n_w, n_out, n_unit, n_start, n_update;
    const int *unit_at;
    Rates derivatives;
    Evaluated outputs, start, update;
    /* closed loops */
    int32_t n_g, n_v, n_rg, n_rv, n_paired, speeds_are_rates, n_order, n_sides, n_corrected_q, n_corrected_u;
    real usual_ratio, usual_order;
    const real *row_scale, *column_scale, *pivot_scale;
    const Entry *order;
    const int *row_at, *row_column, *mass_at, *mass_column; /* entries of J and M that are not zero in every position */
    const int *corrected_q, *corrected_u, *side_of;
    Evaluated closure, system_at, coordinate_rates, correct_q, correct_u, sides, inertias;
    int32_t n_blocks, widest, most_block_rows;
    const int *block_at, *block_u, *block_q, *block_row_at, *block_row;
    const real *block_usual;
    /* methods for differential-algebraic equations: first entries of rows of M, columns that two rows of J have */
    int32_t diagonal;
    const int *mass_from, *pair_at, *pair_column;
    /* stiff methods */
    int32_t n_first, n_slopes;
    real slopes_cost, factor_cost, solve_cost;
    const int *state_order, *down, *below, *across, *beside, *slope_place, *slope_column, *sloped;
    Evaluated slopes;
    /* rigid wheels: force and moment of the ground in w (-1: none), two coefficients of restitution ... */
    int32_t n_wheels;
    const real *wheel_radius, *wheel_restitution, *wheel_resistance;
    const int *wheel_grip, *wheel_input;
    const GroundOf *wheel_ground;
    Evaluated wheels_at;
} Model;
