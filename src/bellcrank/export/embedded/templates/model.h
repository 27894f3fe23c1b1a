/* @TITLE@: equations of motion, taken step by step. Written by Bellcrank.
@ABOUT@
       @STEM@_model m;
       @STEM@_defaults(&m);     parameters, initial state and inputs of the model; then what is to be different
       @STEM@_begin(&m);        once, when all are set
       @STEM@_step(&m);         from then on, every m.h seconds: inputs m.w are held over it; m.out follows

   Several models may run beside each other: all of one is in its structure, which may be copied to keep a state and to
   return to it. Nothing is allocated, and nothing is kept elsewhere. Values are in the units named first; where the
   unit of the model is another, it follows with its size. A step evaluates the rates @EVALUATIONS@ times, with
   @OPERATIONS@ operations each, and the outputs once.
@NOTES@*/

#ifndef @UPPER@_H
#define @UPPER@_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define @UPPER@_STEP @STEP@ /* s, the step of the model; method @METHOD@ */

enum { /* what begin and step return; the state stays the last good one if it is not FINE */
    @UPPER@_FINE = 0,
    @UPPER@_NOT_FINITE = 1, /* a state or constant of the model is no finite number: may the step be too long? */
    @UPPER@_NOT_CLOSED = 2@COMMA@ /* loops cannot be closed, or a singular position is near, or the step is too long */
@IF EVENTS@
    @UPPER@_STOPPED = 3, /* an event has ended the run, at m.t: its number is m.stopped */
    @UPPER@_CHATTERS = 4 /* an event acts again at once, or there are too many actions in one step */
@END@
};

@LISTS@
@AT_ZERO@typedef struct @STEM@_model {
    @REAL@ t; /* s, time of the state; may be set before begin */
    @REAL@ h; /* s, the step; may be set before begin */
    @REAL@ p[@N_P@]; /* parameters */
    @REAL@ y[@N_S@]; /* state: coordinates, then speeds */
    @REAL@ w[@N_I@]; /* inputs */
    @REAL@ out[@N_OUT@]; /* outputs at t */
@IF EVENTS@
    @REAL@ e[@N_E@]; /* parameters of events alone */
    int64_t count[@EVENTS@]; /* how often each event has come about since begin */
    int64_t stopped; /* the event that has ended the run, or -1 */
@END@
    /* what follows is the program's own */
    @REAL@ c[@N_C@], t_start;
@IF KEPT@
    @REAL@ kept[@KEPT@];
@END@
@IF MEMORY@
    double memory[@MEMORY@];
@END@
@IF PAST@
    @REAL@ old[@N_S@]; /* rates at the beginning of the step before ... */
    int64_t behind; /* ... are they known? */
@END@
@IF CARRIED@
    @REAL@ carried[@CARRIED@];
@END@
@IF LOOPS@
    int64_t wary; /* are pivots of closed loops chosen at every evaluation? */
@END@
@IF EVENTS@
    @STEM@_at_zero at_zero[@EVENTS@];
    double g[@EVENTS@], last[@EVENTS@], now; /* conditions at t, times of last actions, t */
    @REAL@ seen[@N_I@]; /* inputs in the conditions */
    int64_t acted[@EVENTS@], tuned;
@END@
    int64_t steps;
} @STEM@_model;

void @STEM@_defaults(@STEM@_model *m);
int @STEM@_begin(@STEM@_model *m);
int @STEM@_step(@STEM@_model *m);
void @STEM@_tune(@STEM@_model *m); /* after a change of parameters, none of them "fixed", between steps */

#ifdef __cplusplus
}
#endif

#endif
