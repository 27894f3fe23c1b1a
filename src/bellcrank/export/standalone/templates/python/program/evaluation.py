# ---- the run


def check_values():
    for p in PARAMETERS:
        if not p.given:
            problem(Settings.input, f"no value is given for {p.keyword}")
    if Settings.step > Settings.t_end * (1 + PLANS.over):
        problem(Settings.input, f"STEP {Settings.step:g} s is larger than STOPT {Settings.t_end:g} s")
    if Settings.t_end / Settings.step > 1e9:
        problem(Settings.input, "there are more than 1e9 steps")


class Evaluation:
    """The model with its parameters, at any time and state."""

    keeper = None  # of closed loops
    weights = None  # their metric, in runs with events; None: to be found
    kept, n_s, unit = KEPT, len(STATES), UNIT
    remembers = any(getattr(r, "memory", None) is not None for r in ROUTINES)

    def __init__(self, p, c):
        self.p, self.c = p, c

    def call(self, function, t, y):
        """A function of the model at a time and state."""
        return self.of(function, t, y[:N_Q].tolist(), y[N_Q:].tolist())

    def of(self, function, t, q, u):
        """The same for coordinates and speeds as lists."""
        return function(t, q, u, self.p, self.c, inputs_at(t), ROUTINES)

    def hold(self, t, y, first=False, live=2):
        """Values of external routines that are kept: those for a whole run at its first step, the others always."""
        set_live(live)
        if first and hasattr(model, "start"):
            found = self.call(model.start, t, y)
            KEPT[: len(found)] = found
        if hasattr(model, "update"):
            found = self.call(model.update, t, y)
            KEPT[-len(found) :] = found
        set_live(0)

    def rates(self, t, y):
        set_live(0)
        return self._rates(t, y)

    def settled(self, t, y):
        """Rates at an accepted state: what external routines remember may change here."""
        set_live(1)
        try:
            return self._rates(t, y)
        finally:
            set_live(0)

    def _rates(self, t, y):
        if self.keeper is not None and self.keeper.wary:
            return self.keeper.rates(t, y)
        qd, ud = self.call(model.derivatives, t, y)
        return np.array([*qd, *ud])

    def row(self, t, y, live=2):
        """Time, state, outputs and inputs."""
        q, u = y[:N_Q].tolist(), y[N_Q:].tolist()
        set_live(live)
        w = inputs_at(t)
        try:
            found = model.outputs(t, q, u, self.p, self.c, w, ROUTINES)
        except (ArithmeticError, ValueError):
            found = self._undefined(t, q, u, self.p, self.c, w)
        set_live(0)
        return np.array([t, *q, *u, *found, *w])

    @staticmethod
    def _undefined(t, *at):
        """Outputs of which some have no value: inf or nan, as in C, by the functions of NumPy in place of Python's."""
        usual = {name: f for name, f in vars(model).items() if getattr(f, "__module__", "") == "math"}
        vars(model).update({name: getattr(np, name, f) for name, f in usual.items()})
        try:
            return model.outputs(np.float64(t), *([np.float64(x) for x in list_] for list_ in at), ROUTINES)
        finally:
            vars(model).update(usual)


def begin_on_branch(keeper, y):
    """The start of a run with loops; speeds that lie off every branch of a singular position are told."""
    if keeper.at_rest(0.0, y):
        problem(Settings.input, "the start is singular and at rest: give a speed to choose among its directions")
        stop_if_problems()
    start = keeper.begin(0.0, y)
    for i in np.flatnonzero(np.abs(start - y) > BRIDGES.off_branch):
        s = STATES[i]
        print(f"note: the start is singular, and its speeds lie off the branch that they are nearest to: "
              f"{start[i] / s.factor:.6g} is used instead of {y[i] / s.factor:.6g} for {s.keyword}")  # fmt: skip
    return start


def close_loops(e, y):
    """An initial state that closes the loops, which the evaluation keeps closed from then on."""
    import loops

    try:
        y, notes = loops.assemble(e, y, [s.given for s in STATES])
    except loops.CannotClose as error:
        problem(Settings.input, str(error).rstrip("."))
        stop_if_problems()
    for i, old, new in notes:
        s = STATES[i]
        print(f"note: the initial value of {s.keyword} contradicts the constraints; {new / s.factor:.6g} is used"
              f" instead of {old / s.factor:.6g}")  # fmt: skip
    e.keeper = loops.keeper_of(e, y)
    return y
