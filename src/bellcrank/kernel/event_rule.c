/* ---- the rule of events: what counts, in which order, and what follows; for a run alone and for runs side by side.
   Who includes this says what a run with its events is (LOOKING, LOOK: first parameters and arguments), where arrays
   come from (LOCAL), and how rows, conditions and actions are had. */

typedef struct Crossing {
    double time, size;          /* size of the condition about it */
    int event, side;
    int pushed;                 /* did an action push a condition over that stood at zero? */
} Crossing;

static int event_is_over(const Watched *w, double g, int side)
{
    return w->strict == side ? side*g > 0.0 : side*g >= 0.0;
}

static int comes_over(const Watched *w, int side, double before, double after)
{
    return (side > 0 ? w->up : w->down) && !isnan(before) && !event_is_over(w, before, side)
        && event_is_over(w, after, side);
}

static void fill_crossing(Crossing *to, double time, double size, int event, int side)
{
    to->time = time;
    to->size = size;
    to->event = event;
    to->side = side;
    to->pushed = 0;
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
    fill_crossing(&found[place], time, size, event, side);
}

/* By how much rounding changes a condition. */
RARE static double event_noise(LOOKING int event, const double *row)
{
    LOCAL(double, moved, WIDTH);
    const double g = CONDITION(event, row);
    const int width = EVENT(event)->of_time ? 1 : WIDTH;
    double largest = 0.0;
    for (int way = 0; way < 2; way++) {
        for (int j = 0; j < width; j++)
            moved[j] = row[j]*(1.0 + EVENT_ROUNDING*(way == 0 || j % 2 ? 1.0 : -1.0));
        largest = fmax(largest, fabs(CONDITION(event, moved) - g));
    }
    return largest;
}

static int event_is_zero(LOOKING int event, const double *row, double size)
{
    return fabs(CONDITION(event, row)) <= EVENT_ZERO*size + 4*event_noise(LOOK event, row);
}

/* Does rounding decide on the sign of a condition that is g at a row? */
static int event_is_unsure(LOOKING int event, const double *row, double g)
{
    const int small = EVENT(event)->of_time || fabs(g) <= EVENT_ZERO*ZERO(event)->largest;
    return small && fabs(g) <= 4*event_noise(LOOK event, row);
}

/* Would an event change nothing, beyond rounding, at a row? */
static int event_is_idle(LOOKING int event, const double *row)
{
    for (int i = 0; i < N_SETTINGS; i++) {
        if (SETTING(i)->event != event)
            continue;
        const double now = OLD_VALUE(i, row);
        if (!(fabs(NEW_VALUE(i, row) - now) <= EVENT_ROUNDING*fabs(now)))
            return 0;
    }
    return 1;
}

/* The row at a time, or as much of it as a condition needs. */
static void event_row(LOOKING int event, double t, double *row)
{
    row[0] = t;
    if (!EVENT(event)->of_time)
        event_row_at(LOOK t, row);
}

static double event_at_time(LOOKING int event, double t)
{
    LOCAL(double, row, WIDTH);
    event_row(LOOK event, t, row);
    return CONDITION(event, row);
}

static int is_zero_at(LOOKING int event, double t, double size)
{
    LOCAL(double, row, WIDTH);
    event_row(LOOK event, t, row);
    return event_is_zero(LOOK event, row, size);
}

/* A condition at a time near a row where rounding decides on its sign; 0 if that is so there, too. */
RARE static double sure_at(LOOKING int event, double t)
{
    LOCAL(double, row, WIDTH);
    event_row(LOOK event, t, row);
    const double g = CONDITION(event, row);
    return fabs(g) > 4*event_noise(LOOK event, row) ? g : 0.0;
}

/* Does an event whose condition is crossed do nothing there? Then it is none: what is closed already is not closed
   again, however often what is at rest goes through zero. */
static int comes_to_nothing(LOOKING const Crossing *found)
{
    LOCAL(double, row, WIDTH);
    if (!EVENT(found->event)->acts || EVENT(found->event)->stops)
        return 0;
    event_row_at(LOOK found->time, row);
    if (!event_is_idle(LOOK found->event, row))
        return 0;
    note_idle(watch, found->event, found->time);
    return 1;
}

/* Where a condition changes its sign between two times: regula falsi (Illinois: Dowell & Jarratt 1971, BIT 11, 168),
   halved where that is slow. */
static double event_zero_between(LOOKING int event, int side, double a, double b, double fa, double fb, double small)
{
    double width = fabs(b - a);
    for (int count = 0; count < EVENT_TRIES; count++) {
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
        const double fc = side*event_at_time(LOOK event, c);
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
static double event_crossing(LOOKING int event, int side, double a, double b, double ga, double gb)
{
    const double small = EVENT_LOCATED*fmax(1.0, fabs(b)), first = a, last = b;
    if (side*ga < 0.0 && 0.0 < side*gb) {
        const double root = event_zero_between(LOOK event, side, a, b, side*ga, side*gb, small);
        const double left = root == a ? ga : root == b ? gb : event_at_time(LOOK event, root);
        if (fabs(left) <= EVENT_JUMP*fmin(fabs(ga), fabs(gb))
            && (event_is_over(EVENT(event), left, side)
                || is_zero_at(LOOK event, root, fmax(fabs(ga), fabs(gb)))))
            return root;
    }
    while (b - a > small) { /* from zero: a jump, or a start */
        const double middle = 0.5*(a + b);
        if (!(a < middle && middle < b))
            break;
        const double g = middle == first ? ga : middle == last ? gb : event_at_time(LOOK event, middle);
        if (event_is_over(EVENT(event), g, side))
            b = middle;
        else
            a = middle;
    }
    return b;
}

/* Follows a condition that was zero at the row `before` to its first sign, which it has `later`, at the row `after`.
   What comes back in between is found there; nonzero if the event acts again and again at one time. */
static int leave_zero(LOOKING int event, const double *before, const double *after, double later, Crossing *found,
    int *n)
{
    AtZero *zero = ZERO(event);
    const double around =
        4*fmax(event_noise(LOOK event, before), event_noise(LOOK event, after)) + EVENT_ZERO*zero->size;
    const double size = fabs(later), a = before[0], length = after[0] - a;
    if (size <= EVENT_ZERO*zero->size) { /* what rounding decides on is 0 here */
        zero->looks--;
        return 0;
    }
    zero->waits = 0;
    if (zero->side*later < 0.0)
        return 0;
    for (int k = 1; k <= EVENT_HALVINGS; k++) {
        const double t = a + length*ldexp(1.0, -k), value = event_at_time(LOOK event, t);
        if (zero->side*value < -around) {
            const double when = event_crossing(LOOK event, zero->side, t, a + length*ldexp(1.0, 1 - k), value, later);
            put_crossing(found, n, when, size, event, zero->side);
            return 0;
        }
        later = value;
    }
    return zero->turns && zero->looks > 0;
}

/* With which values a condition leaves the row `before`, comes to the row `after` and leaves it, which it has `later`.
   Where rounding decides on its sign these are the ones a little before and after, so that a zero at the end of a step
   counts once; 0 where it stays at zero. */
static void about_zero(LOOKING int event, const double *before, const double *after, double later, double *from,
    double *came, double *left)
{
    AtZero *zero = ZERO(event);
    const double away = EVENT_GLANCE*(after[0] - before[0]);
    const int known = zero->known && !(zero->when < before[0] || zero->when > before[0]);
    const double largest = fmax(fabs(*from), fabs(later)); /* fmax passes over what is not a number */
    zero->largest = fmax(zero->largest, isfinite(largest) ? largest : 0.0);
    const int unsure = known || event_is_unsure(LOOK event, before, *from);
    if (unsure) /* what is true from its start on becomes true there */
        *from = known ? zero->left : EVENT(event)->strict ? 0.0 : sure_at(LOOK event, before[0] + away);
    *came = *left = later;
    zero->known = event_is_unsure(LOOK event, after, later);
    if (!zero->known)
        return;
    *came = *left = 0.0;
    if (!unsure || EVENT(event)->of_time || fabs(*from) > 0.0 || (EVENT(event)->strict && !known)) {
        *came = sure_at(LOOK event, after[0] - away);
        if (after[0] < EVENT_RUN_ENDS)
            *left = sure_at(LOOK event, after[0] + away);
    }
    zero->when = after[0];
    zero->left = *left;
}

/* Of events that were met up to a time, some of which may act: leaves those at that time, if any does. How many? */
static int met_at(const Watch *watch, double t, Crossing *met, int count)
{
    int acts = 0, n = 0;
    (void)watch;
    for (int i = 0; i < count; i++)
        acts = acts || EVENT(met[i].event)->acts;
    for (int i = 0; acts && i < count; i++)
        if (!(met[i].time < t - EVENT_INSTANT*fmax(1.0, fabs(t))))
            met[n++] = met[i];
    return n;
}

/* Looks between two rows, with conditions g at the one before. Returns how many events are to act, with the others at
   that time: the run continues from there, and they have been noted. *ends: when the first that acts or stops does,
   *stops: the event that stops the run, or -1. */
static int look_between(LOOKING const double *g, const double *before, const double *after, Crossing *fired,
    double *ends, int *stops)
{
    LOCAL(Crossing, found, 4*N_EVENTS);
    const double begin = before[0], end = after[0];
    int n = 0, count = 0;
    *ends = HUGE_VAL;
    *stops = -1;
    for (int event = 0; event < N_EVENTS; event++) {
        const double later = CONDITION(event, after);
        const int waits = ZERO(event)->waits;
        double from = g[event], came, left;
        about_zero(LOOK event, before, after, later, &from, &came, &left);
        if (waits && leave_zero(LOOK event, before, after, came, found, &n)) {
            event_chatters(watch, event, begin, AGAIN_AT_ONCE, 0.0);
            return 0;
        }
        if (ZERO(event)->waits)
            continue;
        for (int side = 1; side >= -1; side -= 2) {
            if (!waits && comes_over(EVENT(event), side, from, came)) {
                const double when = event_crossing(LOOK event, side, begin, end, from, came);
                put_crossing(found, &n, when, fmax(fabs(from), fabs(came)), event, side);
            }
            if (comes_over(EVENT(event), side, came, left))
                put_crossing(found, &n, end, fmax(fabs(came), fabs(left)), event, side);
        }
    }
    for (int i = 0; i < n && !(found[i].time > *ends + EVENT_INSTANT*fmax(1.0, fabs(*ends))); i++) {
        const Watched *w = EVENT(found[i].event);
        if (!(*ends < HUGE_VAL) && comes_to_nothing(LOOK &found[i]))
            continue;
        if (!(*ends < HUGE_VAL) && (w->stops || w->acts))
            *ends = found[i].time;
        fired[count++] = found[i];
        if (!w->acts)
            note_event(watch, found[i].event, found[i].time);
        if (w->stops && *stops < 0)
            *stops = found[i].event;
    }
    return met_at(watch, *ends, fired, count);
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
RARE static int jump_to(LOOKING const double *values, double t, const double *row, Crossing *fired, int *count,
    int *busy, int stops)
{
    for (int i = 0; i < N_EVENTS; i++)
        for (int side = 1; side >= -1; side -= 2) {
            const double after = CONDITION(i, row), size = fmax(fabs(values[i]), fabs(after));
            if (busy[i] || !comes_over(EVENT(i), side, values[i], after))
                continue;
            if (EVENT(i)->strict == 0 && event_is_zero(LOOK i, row, 0.0)) {
                wait_at_zero(ZERO(i), side, 0, size);
                continue;
            }
            if (EVENT(i)->stops && stops < 0)
                stops = i;
            if (EVENT(i)->acts) {
                fill_crossing(&fired[(*count)++], t, size, i, side); /* behind those that are there */
                busy[i] = 1;
            } else
                note_event(watch, i, t);
        }
    return stops;
}

/* How fast the conditions change that are zero at a row, but for a share of their sizes; NaN of others. */
RARE static void rates_at_zero(LOOKING double t, const double *row, const double *y, const double *sizes,
    double *found)
{
    for (int i = 0; i < N_EVENTS; i++) {
        const int zero = EVENT(i)->strict == 0 && event_is_zero(LOOK i, row, sizes[i]);
        found[i] = zero ? event_rate(LOOK i, t, y) : NAN;
    }
}

/* The events whose conditions stand at zero and leave it to a side as an action has changed their rates, to that which
   they came to, if they are here: those that act join the ones that fired, of which so many are done. Returns the event
   that stops the run, or -1. */
RARE static int push_over(LOOKING const double *before, const double *after, const double *sizes, const int *came,
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
            int waits = came[i] ? side != came[i] : !(side > 0 ? EVENT(i)->up : EVENT(i)->down);
            for (int k = done; k < *count; k++)
                waits = waits || fired[k].event == i;
            if (waits || !(side*before[i] <= small && side*after[i] > small))
                continue;
            if (EVENT(i)->stops && stops < 0)
                stops = i;
            if (!EVENT(i)->acts)
                note_event(watch, i, t);
            else if (*count == MOST_FIRED)
                event_chatters(watch, i, t, AGAIN_AND_AGAIN, 0.0);
            else {
                fill_crossing(&fired[*count], t, sizes[i], i, side);
                fired[(*count)++].pushed = 1;
            }
        }
    return stops;
}

/* Closes loops before events act, so that a shift of conditions by drift is not taken for an effect of the actions: the
   sizes grow so that such a shift counts as zero. */
RARE static void remove_drift(LOOKING double t, double *row, double *y, double *sizes)
{
    LOCAL(double, drifted, N_EVENTS);
    for (int i = 0; i < N_EVENTS; i++)
        drifted[i] = CONDITION(i, row);
    if (!close_before(LOOK t, y))
        return;
    row_after(LOOK t, y, row);
    for (int i = 0; i < N_EVENTS; i++) /* fmax passes over what is not a number */
        sizes[i] = fmax(sizes[i], 2.0*fabs(CONDITION(i, row) - drifted[i])/EVENT_ZERO);
}

/* Lets all events at the time of a row act, and those that they bring about. `row` becomes the one after them, y its
   state; returns the event that stops the run, or -1. */
static int events_act(LOOKING Crossing *fired, int count, int stops, double t, double *row, double *y)
{
    LOCAL(double, values, N_EVENTS);
    LOCAL(double, sizes, N_EVENTS);
    LOCAL(double, standing, N_EVENTS);
    LOCAL(double, leaving, N_EVENTS);
    LOCAL(double, rates_before, MOST_FIRED);
    LOCAL(int, busy, N_EVENTS);
    LOCAL(int, came, N_EVENTS);
    LOCAL(int, idle, MOST_FIRED);
    int done = 0;
    for (int i = 0; i < N_EVENTS; i++) {
        sizes[i] = 0.0;
        busy[i] = came[i] = 0;
    }
    for (int i = 0; i < count; i++) {
        busy[fired[i].event] = 1;
        sizes[fired[i].event] = fired[i].size;
        came[fired[i].event] = fired[i].side;
    }
    remove_drift(LOOK t, row, y, sizes);
    for (int i = 0; i < count; i++)
        fired[i].size = sizes[fired[i].event];
    while (done < count) {
        const int event = fired[done].event;
        rates_before[done] = 0.0;
        if (!EVENT(event)->acts) {
            idle[done++] = 1;
            continue;
        }
        idle[done] = event_is_idle(LOOK event, row);
        if (idle[done] && !EVENT(event)->stops) {
            note_idle(watch, event, t);
            count--;
            for (int i = done; i < count; i++)
                fired[i] = fired[i + 1];
            continue;
        }
        rates_before[done] = event_rate(LOOK event, t, y);
        for (int i = 0; i < N_EVENTS; i++)
            values[i] = CONDITION(i, row);
        rates_at_zero(LOOK t, row, y, sizes, standing);
        if (!event_act(LOOK event, t, row, y))
            return stops;
        row_after(LOOK t, y, row);
        if (idle[done])
            note_idle(watch, event, t);
        else if (!note_action(watch, event, t, fired[done].pushed))
            return stops;
        done++;
        const int others = count;
        stops = jump_to(LOOK values, t, row, fired, &count, busy, stops);
        for (int i = others; i < count; i++) {
            sizes[fired[i].event] = fired[i].size;
            came[fired[i].event] = fired[i].side;
        }
        rates_at_zero(LOOK t, row, y, sizes, leaving);
        stops = push_over(LOOK standing, leaving, sizes, came, t, fired, done, &count, stops);
        for (int i = others; i < count; i++)
            came[fired[i].event] = fired[i].side;
    }
    for (int i = 0; i < N_EVENTS; i++) {
        AtZero *zero = ZERO(i);
        zero->size = fmax(zero->size, sizes[i]);
        zero->waits = zero->waits && event_is_zero(LOOK i, row, zero->size);
        zero->known = 0;
    }
    for (int i = 0; i < done; i++)
        if (event_is_zero(LOOK fired[i].event, row, fired[i].size)) {
            const double after = fired[i].side*event_rate(LOOK fired[i].event, t, y);
            const int turns = !idle[i] && turns_back(fired[i].side*rates_before[i], after);
            wait_at_zero(ZERO(fired[i].event), fired[i].side, turns, fired[i].size);
        }
    return stops;
}
