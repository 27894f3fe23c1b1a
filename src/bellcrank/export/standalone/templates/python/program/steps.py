class Steps:
    """Steps of a fixed length, from a state on: the state y and its rates k."""

    def __init__(self, e, course, y):
        self.e, self.course, self.y, self.k, self.old = e, course, y, None, None
        self.advance = advance_by(course.method, N_Q, UNIT)

    def begin(self, t, goes_on=False):
        """Takes the start; routines keep and remember nothing of one that goes on. Rates without a value end the run
        in its next step."""
        e = self.e
        try:
            self.k = (e.rates if goes_on else e.settled)(t, self.y)
        except (ArithmeticError, ValueError):
            self.k = np.full(len(self.y), math.nan)
            return
        if e.keeper is not None:
            e.keeper.remember(t, self.k)

    def step(self, i):
        """Takes step i; what is wrong if it cannot be taken."""
        e = self.e
        inner = e.settled if METHODS[self.course.method].remembers else e.rates
        two_step = METHODS[self.course.method].two_step is not None
        try:
            for part in self.course.parts(i):
                new, state = self.moved(e, part, self.y, self.k, inner, self.old if part.whole else None)
                bad = [s.keyword for s, x in zip(STATES, new) if not math.isfinite(x)]
                if bad:
                    return f"{', '.join(bad)} is no longer a finite number; try a smaller step"
                kept, old = list(KEPT), self.k
                if part.last:
                    e.hold(part.after, new)
                self.y, self.k = new, (e.settled if part.last else e.rates)(part.after, new)
                if e.keeper is not None and state is not None:
                    e.keeper.accept(part.end, self.y, self.k, state)
                near = e.keeper is not None and e.keeper.near
                self.old = old if two_step and part.whole and not near and kept == list(KEPT) else None
        except NotClosed as error:
            lost = error.state
            return f"the loop {lost.row} cannot be kept closed: a correction of {lost.moved:.2g} was needed"
        except (ArithmeticError, ValueError, np.linalg.LinAlgError) as error:
            return f"the rates cannot be evaluated any more ({error}); try a smaller step"
        return ""

    def moved(self, e, part, y, k, inner, old=None):
        """The state after a part of a step, brought onto the constraints; `old`: rates at the start of a whole step
        before a whole one."""
        times = part.t, part.middle, part.before
        if e.keeper is None:
            return self.advance(inner, times, y, part.h, k, old), None
        return e.keeper.step(self.advance, inner, e.rates, times, y, part.h, k, old)

    def within(self, i, row, known):
        """Rows at times within step i, which starts from a row; `known`: rates there, if routines remember."""
        begin, start, usual = self.course.begin(i), row[1 : 1 + len(STATES)], self.e.keeper

        def row_at(t):
            e, y = self.e, start
            try:
                if usual is not None:
                    e.keeper = usual.afresh(begin, start)
                k = e.rates(begin, start) if known is None else known
                for part in self.course.parts(i, until=t):
                    y, _ = self.moved(e, part, y, k, e.rates)
                    if part.end < t:
                        k = e.rates(part.after, y)
                return e.row(t, y, live=0)
            finally:
                e.keeper = usual

        return row_at


def take_steps(e, y, total):
    """The rows recorded, what the steps were, further lines about them, and what ended the run early."""
    breaks = breaks_until(Settings.t_end, total)
    course = Course(Settings.method, Settings.step, total, Settings.every, Settings.t_end, breaks)
    if course.method in OWN:
        return choose_steps(e, course, y)
    rows, reached, ended = (take_watched_steps if settings.EVENTS else take_fixed_steps)(e, course, y)
    if ended and not ended.startswith("stopped"):
        ended = f"stopped at t = {reached * Settings.step:g} s: {ended}"
    return rows, f"{reached} steps of {Settings.step:g} s", [], ended


def take_fixed_steps(e, course, y):
    """The rows recorded, the number of the last step taken, and what ended the run early."""
    steps = first_steps(e, course, y)
    rows = [e.row(0.0, steps.y)]
    for i in range(1, course.total + 1):
        wrong = steps.step(i)
        if wrong:
            return rows, i, wrong
        if i % Settings.every == 0 or i == course.total:
            rows.append(e.row(course.time(i), steps.y))
    return rows, course.total, ""


def choose_steps(e, course, y):
    """Steps of a method that chooses them: as `take_steps`."""
    if e.keeper is not None:
        y = begin_on_branch(e.keeper, y)
    options = Settings.tolerances.options(e, y, STATES)
    held = held_by_routines()
    if not settings.EVENTS:
        run = choosing.Run(e, course, 0.0, y, options, Watch(), STATES, held)
        return run.whole(), *choosing.told(course.method, run.figures, run.passages), run.ended
    acting = watching_run(e, held)

    def stretch(t, y, goes_on):
        y = begin_again(e, t, t, y) if goes_on else y
        return choosing.Run(e, course, t, y, options, acting.watch, STATES, held, goes_on)

    ended = acting.run_chosen(course, y, stretch)
    return acting.rows, *choosing.told(course.method, acting.figures, acting.passages), ended


def first_steps(e, course, y):
    """Steps from the start of a run."""
    e.hold(0.0, y, first=True)
    if e.keeper is not None:
        y = begin_on_branch(e.keeper, y)
    steps = Steps(e, course, y)
    steps.begin(0.0)
    return steps


def held_by_routines():
    """What routines keep and remember."""
    return [r.memory for r in ROUTINES if getattr(r, "memory", None) is not None] + ([KEPT] if KEPT else [])


def begin_again(e, t, start, y):
    """The state from which a run goes on after an event, at a time t; inputs are read at `start` for what is light."""
    import watching

    if e.keeper is None:
        return y
    import loops

    e.keeper = loops.keeper_of(e, y, start, e.weights)
    if e.keeper.at_rest(t, y):
        raise watching.CannotAct("the state is singular and at rest: give a speed to choose among its directions")
    return e.keeper.begin(t, y)


def take_watched_steps(e, course, y):
    """The same as `take_fixed_steps` with events."""

    def steps(course, y, goes_on):
        if not goes_on:
            return first_steps(e, course, y)
        t = course.begin(course.first + 1)
        found = Steps(e, course, begin_again(e, t, course.start(course.first + 1), y))
        found.begin(t, goes_on=True)
        return found

    acting = watching_run(e, held_by_routines())
    return acting.rows, *acting.run(course, y, steps)


def watching_run(e, held):
    """What watches a run and lets its events act."""
    import watching

    def refresh(name):
        try:
            e.p, e.c = parameters_now()
        except (ArithmeticError, ValueError):
            e.c = [math.nan]
        if not all(map(math.isfinite, e.c)):
            raise watching.CannotAct(f"event '{name}': {NO_CONSTANTS}")
        e.weights = None

    def mended(t, y, kept, name):
        if e.keeper is None:
            return y
        try:
            return loops.mended(e, t, y, kept)
        except loops.CannotClose as error:
            left = f"a residual of {error.residual:.3g} remains in {error.row}"
            raise watching.CannotAct(f"event '{name}' sets states against the constraints: {left}") from None

    if e.keeper is not None:
        import loops

        e.weights = e.keeper.closure.weights
    return watching.Acting(e, PARAMETERS, STATES, refresh, mended, held)
