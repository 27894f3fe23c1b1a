/* An event that has acted where its condition still is zero: it counts again once that was on the other side of `side`.
   Does the action turn it back? That is asked in the first `looks` only. */
typedef struct AtZero {
    int waits, side, turns, looks;
    double size; /* of the condition about the event */
} AtZero;
