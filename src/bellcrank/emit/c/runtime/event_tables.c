typedef struct Watched {
@IF NAMED@
    const char *name;
@END@
    int up, down;    /* is it watched for coming up through zero, and down? */
    int strict;      /* the side to which zero itself does not belong, if there is one */
    int stops, acts; /* does it end the run, does it set anything? */
} Watched;

static const Watched watched[N_EVENTS] = {
@WATCHED@};

typedef struct Crossing {
    double time, size; /* size of the condition about it */
    int event, side;
    int pushed; /* did an action push a condition over that stood at zero? */
} Crossing;

enum { MOST_FIRED = 18*N_EVENTS }; /* at one time, with those that are pushed again */

static int event_is_over(int event, double g, int side)
{
    return watched[event].strict == side ? side*g > 0.0 : side*g >= 0.0;
}

static int comes_over(int event, int side, double before, double after)
{
    return (side > 0 ? watched[event].up : watched[event].down) && !isnan(before)
        && !event_is_over(event, before, side) && event_is_over(event, after, side);
}

/* Puts a crossing where it belongs among those found, in the order of time, events and sides. */
static void put_crossing(Crossing *found, int *n, double time, double size, int event, int side)
{
    int place = (*n)++;
    for (; place > 0 && (time < found[place - 1].time
                         || (!(time > found[place - 1].time)
                             && (event < found[place - 1].event
                                 || (event == found[place - 1].event && side < found[place - 1].side)))); place--)
        found[place] = found[place - 1];
    found[place].time = time;
    found[place].size = size;
    found[place].event = event;
    found[place].side = side;
    found[place].pushed = 0;
}

