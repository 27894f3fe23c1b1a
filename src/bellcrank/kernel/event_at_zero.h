/* A condition at zero, where it counts once only */
typedef struct AtZero {
    int32_t waits;              /* has it acted where it still is zero? It counts again once it was beyond `side` */
    int32_t side;
    int32_t turns, looks;       /* does the action turn it back? That is asked in the first looks only */
    int32_t known;              /* did it leave a zero at the end of the last step ... */
    double size;                /* of the condition about the event */
    double largest;             /* so far */
    double when, left;          /* ... at this time, s, with this value? */
} AtZero;
