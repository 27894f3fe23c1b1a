typedef struct Watched {
    int up, down;    /* is it watched for coming up through zero, and down? */
    int strict;      /* the side to which zero itself does not belong, if there is one */
    int stops, acts; /* does it end the run, does it set anything? */
    int of_time;     /* does it depend on time and parameters alone? */
} Watched;

static const Watched watched[N_EVENTS] = {
@WATCHED@};

enum { MOST_FIRED = 18*N_EVENTS }; /* at one time, with those that are pushed again */
enum { NO_PROBLEM, AGAIN_AT_ONCE, AGAIN_AND_AGAIN };
