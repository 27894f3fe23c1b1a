typedef struct Watched {
    int up, down;    /* is it watched for coming up through zero, and down? */
    int strict;      /* the side to which zero itself does not belong, if there is one */
    int stops, acts; /* does it end the run, does it set anything? */
    int of_time;     /* does it depend on time and parameters alone? */
} Watched;

static const Watched watched[N_EVENTS] = {
@WATCHED@};

typedef struct Setting { /* a state, or else a value and maybe a parameter, by their numbers */
    int event, state, value, parameter, positive;
    double factor; /* to equation units */
} Setting;

static const Setting event_settings[N_SETTINGS + 1] = {
@SETTINGS@    {-1, -1, -1, -1, 0, 1.0},
};

enum { MOST_FIRED = 18*N_EVENTS }; /* at one time, with those that are pushed again */
enum { NO_PROBLEM, AGAIN_AT_ONCE, AGAIN_AND_AGAIN };

/* The value of a condition at a row, in the units of the user; @V@: parameters. */
static double event_condition(int event, const double *row, const @OF@ *@V@)
{
    (void)@V@;
    (void)row;
    switch (event) {
@CONDITIONS@    }
    return 0.0;
}

/* The value that a setting gives, from the row before the event. */
static double event_value(int setting, const double *row, const @OF@ *@V@)
{
    (void)@V@;
    (void)row;
    switch (setting) {
@VALUES@    }
    return 0.0;
}
