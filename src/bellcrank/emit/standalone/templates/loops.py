GUESSED = [@GUESSED@]  # coordinates that may move although they are given, if the loops cannot be closed otherwise


def closure_of(e):
    """The constraints of the closed loops as a function of time and state."""

    def function(t, q, u):
        return model.closure(t, q, u, e.p, e.c, inputs_at(t), ROUTINES)

    return Closure(@NAMES@, @POSITIONS@, N_Q, len(STATES) - N_Q, function)


def assemble(closure, y):
    """An initial state that closes the loops: what is given is kept; if that cannot be, dependent coordinates are guesses only; then
    everything may move."""
    free = np.array([not s.given for s in STATES])
    guessed = np.array(GUESSED + [False] * (len(STATES) - N_Q))
    for attempt, may in enumerate((free, free | guessed, np.ones(len(STATES), dtype=bool))):
        try:
            found = np.concatenate(closure.assemble(0.0, y[:N_Q], y[N_Q:], may[:N_Q], may[N_Q:]))
        except CannotClose as error:
            failed = error
            continue
        for s, old, new in zip(STATES, y, found):
            if attempt and s.given and abs(new - old) > 1e-9:
                print(f"note: the initial value of {s.keyword} contradicts the constraints; {new / s.factor:.6g} is used instead of {old / s.factor:.6g}")
        return found
    problem(Settings.input, f"the loop {failed.row} cannot be closed: a residual of {failed.residual:.3g} remains. "
            "Check lengths, or give initial values nearer to an assembly")
    stop_if_problems()
    return y


