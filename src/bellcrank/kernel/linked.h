/* How the files of the kernel see a model of which nothing is known when they are compiled: every function is given its
   table and free memory, of which its arrays are taken. Where the kernel is one text with a model, GIVEN and HERE are
   nothing, ARRAY is an array and sizes are numbers (text.py). */

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define real double
#define EXPORT static
#define LINKED 1

#include "externals.h"
#include "model.h"

#ifdef __GNUC__
#define GIVEN __attribute__((unused)) const Model *model, __attribute__((unused)) real *room,
#else
#define GIVEN const Model *model, real *room,
#endif
#define HERE model, room,
#define GIVEN_ALONE const Model *model
#define ARRAY(type, name, n) \
    type *const name = (type *)(void *)room; \
    room += ((size_t)(n)*sizeof(type) + sizeof(real) - 1)/sizeof(real)
#define FIELD(type, name, n) type *name
#define ROWS(type, name, count, n) type *name[count]

#define MODEL_HAS(part) (model->part)
#ifndef PAGE                     /* pages have fixed steps alone, and of these what they need */
#define HAS_LOOPS 1
#define HAS_BRIDGES 1
#define HAS_LOOKS 1
#define HAS_WHEELS 1
#define HAS_LINKAGES 1
#define HAS_GROUND 1
#define HAS_ADAPTIVE 1
#else
#define HAS_ADAPTIVE 0
#endif
#define HAS_CORRECTION HAS_LOOPS
#define HAS_SIDES HAS_LOOPS
#define HAS_SYSTEM HAS_LOOPS
#define HAS_ASSEMBLY HAS_LOOPS
#define HAS_DAE HAS_ADAPTIVE
#define HAS_STIFF HAS_ADAPTIVE
#define HAS_SLOPES HAS_ADAPTIVE
#define HAS_CALLS 1
#define HAS_STEPS 1

#define N_Q (model->n_q)
#define N_U (model->n_u)
#define N_S (model->n_s)
#define N_I (model->n_i)
#define N_W (model->n_w)
#define N_OUT (model->n_out)
#define N_UNIT (model->n_unit)
#define N_START (model->n_start)
#define N_UPDATE (model->n_update)
#define N_G (model->n_g)
#define N_V (model->n_v)
#define N_RG (model->n_rg)
#define N_RV (model->n_rv)
#define N_PAIRED (model->n_paired)
#define N_ORDER (model->n_order)
#define N_SIDES (model->n_sides)
#define N_CORRECTED_Q (model->n_corrected_q)
#define N_CORRECTED_U (model->n_corrected_u)
#define N_BLOCKS (model->n_blocks)
#define WIDEST (model->widest)
#define MOST_BLOCK_ROWS (model->most_block_rows)
#define N_FIRST (model->n_first)
#define N_SLOPES (model->n_slopes)
#define N_WHEELS (model->n_wheels)
#define SPEEDS_ARE_RATES (model->speeds_are_rates)
#define DIAGONAL (model->diagonal)
#define CLOSURE_INPUTS (model->closure_inputs)
#define REMEMBERS (model->remembers)
#define USUAL_RATIO (model->usual_ratio)
#define USUAL_ORDER (model->usual_order)
#define SLOPES_COST (model->slopes_cost)
#define FACTOR_COST (model->factor_cost)
#define SOLVE_COST (model->solve_cost)

#define UNIT_AT (model->unit_at)
#define ROW_SCALE (model->row_scale)
#define COLUMN_SCALE (model->column_scale)
#define PIVOT_SCALE (model->pivot_scale)
#define ORDER (model->order)
#define CORRECTED_Q (model->corrected_q)
#define CORRECTED_U (model->corrected_u)
#define BLOCK_AT (model->block_at)
#define BLOCK_U (model->block_u)
#define BLOCK_Q (model->block_q)
#define BLOCK_ROW_AT (model->block_row_at)
#define BLOCK_ROW (model->block_row)
#define BLOCK_USUAL (model->block_usual)
#define MASS_FROM (model->mass_from)
#define ROW_AT (model->row_at)
#define ROW_COLUMN (model->row_column)
#define MASS_AT (model->mass_at)
#define MASS_COLUMN (model->mass_column)
#define PAIR_AT (model->pair_at)
#define PAIR_COLUMN (model->pair_column)
#define STATE_ORDER (model->state_order)
#define DOWN (model->down)
#define BELOW (model->below)
#define ACROSS (model->across)
#define BESIDE (model->beside)
#define SLOPE_PLACE (model->slope_place)
#define SLOPE_COLUMN (model->slope_column)
#define SLOPED (model->sloped)
#define WHEEL_RADIUS (model->wheel_radius)
#define WHEEL_RESTITUTION (model->wheel_restitution)
#define WHEEL_RESISTANCE (model->wheel_resistance)
#define WHEEL_GRIP (model->wheel_grip)
#define WHEEL_INPUT (model->wheel_input)
#define WHEEL_GROUND (model->wheel_ground)
#define side_of (model->side_of)

#define derivatives(...) model->derivatives(__VA_ARGS__)
#define outputs(...) model->outputs(__VA_ARGS__)
#define start(...) model->start(__VA_ARGS__)
#define update(...) model->update(__VA_ARGS__)
#define closure(...) model->closure(__VA_ARGS__)
#define system_at(...) model->system_at(__VA_ARGS__)
#define coordinate_rates(...) model->coordinate_rates(__VA_ARGS__)
#define correct_q(...) model->correct_q(__VA_ARGS__)
#define correct_u(...) model->correct_u(__VA_ARGS__)
#define sides(...) model->sides(__VA_ARGS__)
#define inertias(...) model->inertias(__VA_ARGS__)
#define slopes(...) model->slopes(__VA_ARGS__)
#define wheels_at(...) model->wheels_at(__VA_ARGS__)
