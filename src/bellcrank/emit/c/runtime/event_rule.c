#ifndef RARE
#define RARE
#endif

/* ---- the rule of events: what counts, in which order, and what follows. `Watch` is a run with its events; what is
   known of it by itself stands above: conditions, rows within its last step, what is set, what is told. */

/* By how much rounding changes a condition. */
RARE static double event_noise(Watch *watch, int event, const double *row)
{
    double moved[WIDTH], largest = 0.0;
    const double g = condition_of(watch, event, row);
    for (int way = 0; way < 2; way++) {
        for (int j = 0; j < WIDTH; j++)
            moved[j] = row[j]*(1.0 + EVENT_ROUNDING*(way == 0 || j % 2 ? 1.0 : -1.0));
        largest = fmax(largest, fabs(condition_of(watch, event, moved) - g));
    }
    return largest;
}

static int event_is_zero(Watch *watch, int event, const double *row, double size)
{
    return fabs(condition_of(watch, event, row)) <= EVENT_ZERO*size + 4*event_noise(watch, event, row);
}

/* Would an event change nothing, beyond rounding, at a row? */
static int event_is_idle(Watch *watch, int event, const double *row)
{
    for (int i = 0; i < N_SETTINGS; i++) {
        if (event_settings[i].event != event)
            continue;
        const double now = value_now(watch, i, row);
        if (!(fabs(value_set(watch, i, row) - now) <= EVENT_ROUNDING*fabs(now)))
            return 0;
    }
    return 1;
}

static double event_at_time(Watch *watch, int event, double t)
{
    double row[WIDTH];
    event_row_at(watch, t, row);
    return condition_of(watch, event, row);
}

static int is_zero_at(Watch *watch, int event, double t, double size)
{
    double row[WIDTH];
    event_row_at(watch, t, row);
    return event_is_zero(watch, event, row, size);
}

/* Does an event whose condition is crossed do nothing there? Then it is none: what is closed already is not closed
   again, however often what is at rest goes through zero. */
static int comes_to_nothing(Watch *watch, const Crossing *found)
{
    double row[WIDTH];
    if (!watched[found->event].acts || watched[found->event].stops)
        return 0;
    event_row_at(watch, found->time, row);
    if (!event_is_idle(watch, found->event, row))
        return 0;
    tell_idle(watch, found->event, found->time);
    return 1;
}

/* Where a condition changes its sign between two times: regula falsi (Illinois), halved where that is slow. */
static double event_zero_between(Watch *watch, int event, int side, double a, double b, double fa, double fb,
    double small)
{
    double width = fabs(b - a);
    for (int count = 0; count < @MOST_LOOKS@; count++) {
        double c = b - fb*(b - a)/(fb - fa);
        if (count % 2) {
            if (fabs(b - a) > 0.5*width)
                c = a + 0.5*(b - a);
            width = fabs(b - a);
        }
        if (fabs(c - b) < 0.5*small) /* a little beyond: the zero may lie just there */
            c = b + copysign(0.5*small, a - b);
        if (!(fmin(a, b) < c && c < fmax(a, b)))
            c = a + 0.5*(b - a);
        const double fc = side*event_at_time(watch, event, c);
        if ((fc > 0.0) == (fb > 0.0))
            fa *= 0.5;
        else {
            a = b;
            fa = fb;
        }
        b = c;
        fb = fc;
        if (fc == 0.0 || fabs(b - a) <= small)
            break;
    }
    return b;
}

/* The time at which a condition comes to a side, between one at which it is not there and one at which it is. What it
   is there is zero, or on that side: else it would count again. */
static double event_crossing(Watch *watch, int event, int side, double a, double b, double ga, double gb)
{
    const double small = 1e-15*fmax(1.0, fabs(b)), first = a, last = b;
    if (side*ga < 0.0 && 0.0 < side*gb) {
        const double root = event_zero_between(watch, event, side, a, b, side*ga, side*gb, small);
        const double left = root == a ? ga : root == b ? gb : event_at_time(watch, event, root);
        if (fabs(left) <= EVENT_JUMP*fmin(fabs(ga), fabs(gb)) &&
            (event_is_over(event, left, side) || is_zero_at(watch, event, root, fmax(fabs(ga), fabs(gb)))))
            return root;
    }
    while (b - a > small) { /* from zero: a jump, or a start */
        const double middle = 0.5*(a + b);
        if (!(a < middle && middle < b))
            break;
        const double g = middle == first ? ga : middle == last ? gb : event_at_time(watch, event, middle);
        if (event_is_over(event, g, side))
            b = middle;
        else
            a = middle;
    }
    return b;
}

/* Follows a condition that was zero at the row `before` to its first sign, which it has `later`, at the row `after`.
   What comes back in between is found there; nonzero if the event acts again and again at one time. */
static int leave_zero(Watch *watch, int event, const double *before, const double *after, double later,
    Crossing *found, int *n)
{
    AtZero *zero = zero_of(watch, event);
    const double around =
        4*fmax(event_noise(watch, event, before), event_noise(watch, event, after)) + EVENT_ZERO*zero->size;
    const double size = fabs(later), a = before[0], length = after[0] - a;
    if (size <= around) {
        zero->looks--;
        return 0;
    }
    zero->waits = 0;
    if (zero->side*later < 0.0)
        return 0;
    for (int k = 1; k <= EVENT_HALVINGS; k++) {
        const double t = a + length*ldexp(1.0, -k), value = event_at_time(watch, event, t);
        if (zero->side*value < -around) {
            const double when = event_crossing(watch, event, zero->side, t, a + length*ldexp(1.0, 1 - k), value, later);
            put_crossing(found, n, when, size, event, zero->side);
            return 0;
        }
        later = value;
    }
    return zero->turns && zero->looks > 0;
}

/* Of events that were met up to a time, some of which may act: leaves those at that time, if any does. How many? */
static int met_at(double t, Crossing *met, int count)
{
    int acts = 0, n = 0;
    for (int i = 0; i < count; i++)
        acts = acts || watched[met[i].event].acts;
    for (int i = 0; acts && i < count; i++)
        if (!(met[i].time < t - EVENT_INSTANT*fmax(1.0, fabs(t))))
            met[n++] = met[i];
    return n;
}

/* Looks between two rows, with conditions g at the one before. Returns how many events are to act, with the others at
   that time: the run goes on from there, and they have been told. *ends: when the first that acts or stops does,
   *stops: the event that stops the run, or -1. */
static int look_between(Watch *watch, const double *g, const double *before, const double *after,
    Crossing *fired, double *ends, int *stops)
{
    Crossing found[2*N_EVENTS] = {{0.0, 0.0, 0, 0, 0}};
    const double begin = before[0], end = after[0];
    int n = 0, count = 0;
    *ends = HUGE_VAL;
    *stops = -1;
    for (int event = 0; event < N_EVENTS; event++) {
        const double later = condition_of(watch, event, after);
        if (zero_of(watch, event)->waits) {
            if (leave_zero(watch, event, before, after, later, found, &n)) {
                event_chatters(watch, event, begin, "again at once");
                return 0;
            }
            continue;
        }
        for (int side = 1; side >= -1; side -= 2)
            if (comes_over(event, side, g[event], later)) {
                const double when = event_crossing(watch, event, side, begin, end, g[event], later);
                put_crossing(found, &n, when, fmax(fabs(g[event]), fabs(later)), event, side);
            }
    }
    for (int i = 0; i < n && !(found[i].time > *ends + EVENT_INSTANT*fmax(1.0, fabs(*ends))); i++) {
        const Watched *w = &watched[found[i].event];
        if (!(*ends < HUGE_VAL) && comes_to_nothing(watch, &found[i]))
            continue;
        if (!(*ends < HUGE_VAL) && (w->stops || w->acts))
            *ends = found[i].time;
        fired[count++] = found[i];
        if (!w->acts)
            tell_event(watch, found[i].event, found[i].time);
        if (w->stops && *stops < 0)
            *stops = found[i].event;
    }
    return met_at(*ends, fired, count);
}

/* Does an action turn a condition back, by its rates to the side it came to? A rate against that side is rounding,
   where a motion only just comes there: what is not faster after the action came to rest there. */
static int turns_back(double before, double after)
{
    return !(after > (before > 0.0 ? EVENT_STILL : 1.0)*fabs(before));
}

static void wait_at_zero(AtZero *zero, int side, int turns, double size)
{
    zero->waits = 1;
    zero->side = side;
    zero->turns = turns;
    zero->looks = 2;
    zero->size = size;
}

/* The events that a jump from some values of the conditions to those at a row brings about, but for those that are
   busy: those that act join the ones that fired. An expression that comes to rest at zero counts from its first sign
   after. Returns the event that stops the run, or -1. */
RARE static int jump_to(Watch *watch, const double *values, double t, const double *row, Crossing *fired, int *count,
    int *busy, int stops)
{
    for (int i = 0; i < N_EVENTS; i++)
        for (int side = 1; side >= -1; side -= 2) {
            const double after = condition_of(watch, i, row), size = fmax(fabs(values[i]), fabs(after));
            if (busy[i] || !comes_over(i, side, values[i], after))
                continue;
            if (watched[i].strict == 0 && event_is_zero(watch, i, row, 0.0)) {
                wait_at_zero(zero_of(watch, i), side, 0, size);
                continue;
            }
            if (watched[i].stops && stops < 0)
                stops = i;
            if (watched[i].acts) {
                int none = 0; /* behind those that are there, whatever their order */
                put_crossing(fired + (*count)++, &none, t, size, i, side);
                busy[i] = 1;
            } else
                tell_event(watch, i, t);
        }
    return stops;
}

/* How fast the conditions change that are zero at a row, but for a share of their sizes; NaN of others. */
RARE static void rates_at_zero(Watch *watch, double t, const double *row, const double *y, const double *sizes,
    double *found)
{
    for (int i = 0; i < N_EVENTS; i++) {
        const int zero = watched[i].strict == 0 && event_is_zero(watch, i, row, sizes[i]);
        found[i] = zero ? event_rate(watch, i, t, y) : NAN;
    }
}

/* The events whose conditions stand at zero and leave it to a side as an action has changed their rates, to that which
   they came to, if they are here: those that act join the ones that fired, of which so many are done. Returns the event
   that stops the run, or -1. */
RARE static int push_over(Watch *watch, const double *before, const double *after, const double *sizes, const int *came,
    double t, Crossing *fired, int done, int *count, int stops)
{
    double small = 0.0;
    for (int i = 0; i < N_EVENTS; i++) {
        small = fabs(before[i]) > small ? fabs(before[i]) : small;
        small = fabs(after[i]) > small ? fabs(after[i]) : small;
    }
    small *= EVENT_STILL;
    for (int i = 0; i < N_EVENTS; i++)
        for (int side = 1; side >= -1; side -= 2) {
            int waits = came[i] ? side != came[i] : !(side > 0 ? watched[i].up : watched[i].down);
            for (int k = done; k < *count; k++)
                waits = waits || fired[k].event == i;
            if (waits || !(side*before[i] <= small && side*after[i] > small))
                continue;
            if (watched[i].stops && stops < 0)
                stops = i;
            if (!watched[i].acts)
                tell_event(watch, i, t);
            else if (*count == MOST_FIRED)
                event_chatters(watch, i, t, "again and again");
            else {
                int none = 0;
                put_crossing(fired + *count, &none, t, sizes[i], i, side);
                fired[(*count)++].pushed = 1;
            }
        }
    return stops;
}

/* Lets all events at the time of a row act, and those that they bring about. `row` becomes the one after them, y its
   state; returns the event that stops the run, or -1. */
static int events_act(Watch *watch, Crossing *fired, int count, int stops, double t, double *row, double *y)
{
    double values[N_EVENTS], rates_before[MOST_FIRED] = {0.0}, sizes[N_EVENTS] = {0.0};
    double standing[N_EVENTS], leaving[N_EVENTS];
    int busy[N_EVENTS] = {0}, came[N_EVENTS] = {0}, idle[MOST_FIRED] = {0}, done = 0;
    for (int i = 0; i < count; i++) {
        busy[fired[i].event] = 1;
        sizes[fired[i].event] = fired[i].size;
        came[fired[i].event] = fired[i].side;
    }
    while (done < count) {
        const int event = fired[done].event;
        if (!watched[event].acts) {
            idle[done++] = 1;
            continue;
        }
        idle[done] = event_is_idle(watch, event, row);
        if (idle[done] && !watched[event].stops) {
            tell_idle(watch, event, t);
            count--;
            for (int i = done; i < count; i++)
                fired[i] = fired[i + 1];
            continue;
        }
        rates_before[done] = event_rate(watch, event, t, y);
        for (int i = 0; i < N_EVENTS; i++)
            values[i] = condition_of(watch, i, row);
        rates_at_zero(watch, t, row, y, sizes, standing);
        if (!event_act(watch, event, t, row, y))
            return stops;
        row_after(watch, t, y, row);
        if (idle[done])
            tell_idle(watch, event, t);
        else if (!note_action(watch, event, t, fired[done].pushed))
            return stops;
        done++;
        const int others = count;
        stops = jump_to(watch, values, t, row, fired, &count, busy, stops);
        for (int i = others; i < count; i++) {
            sizes[fired[i].event] = fired[i].size;
            came[fired[i].event] = fired[i].side;
        }
        rates_at_zero(watch, t, row, y, sizes, leaving);
        stops = push_over(watch, standing, leaving, sizes, came, t, fired, done, &count, stops);
        for (int i = others; i < count; i++)
            came[fired[i].event] = fired[i].side;
    }
    for (int i = 0; i < N_EVENTS; i++) {
        AtZero *zero = zero_of(watch, i);
        zero->waits = zero->waits && event_is_zero(watch, i, row, zero->size);
    }
    for (int i = 0; i < done; i++)
        if (event_is_zero(watch, fired[i].event, row, fired[i].size)) {
            const double after = fired[i].side*event_rate(watch, fired[i].event, t, y);
            const int turns = !idle[i] && turns_back(fired[i].side*rates_before[i], after);
            wait_at_zero(zero_of(watch, fired[i].event), fired[i].side, turns, fired[i].size);
        }
    return stops;
}
