# ---- inputs over time


def read_input(signal, words, place, folder):
    """A number, or a kind of signal with its numbers, or a file."""
    word = words[0].lower() if words else ""
    value = number_of(word)
    if value is not None:
        signal.kind, signal.numbers = "constant", (value,)
    elif word == "file":
        if len(words) < 2:
            problem(place, f"{signal.keyword} needs the name of a file")
        else:
            read_points(signal, words[1], place, folder)
    elif word in KINDS:
        kind = KINDS[word]
        numbers = [number_of(x) for x in words[1 : 1 + len(kind.names)]]
        if len(numbers) < len(kind.names) or None in numbers:
            return problem(place, f"{signal.keyword}: {word} needs {len(kind.names)} numbers")
        for name, value in zip(kind.names, numbers):
            if name in kind.positive and value <= 0:
                return problem(place, f"{signal.keyword}: the {name} of a {word} must be positive")
        signal.kind, signal.numbers = word, tuple(numbers)
    else:
        problem(place, f"{signal.keyword} needs a number, {', '.join(KINDS)} or file, found '{word}'")
    return None


def read_points(signal, name, place, folder):
    """Lines of time and value, or of time and the four coefficients of a cubic piece."""
    path, lines = read_lines(name, folder, place)
    rows = []
    for i, line in enumerate(lines or [], 1):
        if not line.strip() or line.strip().startswith("*"):
            continue
        row = [number_of(x) for x in line.replace(",", " ").split()]
        wrong = None in row or len(row) not in (2, 5) or (rows and (len(row) != len(rows[0]) or row[0] <= rows[-1][0]))
        if wrong:
            what = "expected a time later than the one before and a value, or a time and four coefficients"
            return problem(f"{path}, line {i}", what)
        rows.append(row)
    if lines is None:
        return None
    if len(rows) < 2:
        return problem(path, "an input needs at least two points")
    data = np.array(rows)
    signal.kind, signal.file, signal.points = "file", str(path), data[:, 0]
    signal.straight = data.shape[1] == 2
    signal.pieces = np.zeros((len(data) - 1, 4))
    signal.pieces[:, : data.shape[1] - 1] = data[:-1, 1:]
    if signal.straight:
        signal.pieces[:, 1] = np.diff(data[:, 1]) / np.diff(data[:, 0])
    return None


def check_inputs():
    """What is missing or too short is told."""
    for s in SIGNALS:
        if not s.kind:
            problem(Settings.input, f"no input is given for {s.keyword}")
        if s.straight and (s.points[0] > 0 or s.points[-1] < Settings.t_end * (1 - INPUTS.known)):
            problem(s.file, f"{s.keyword} is not known for the whole run")
    for i, rate in settings.INPUTS:
        kind = KINDS.get(SIGNALS[i].kind)
        if kind is not None and rate > kind.smooth:
            often = " twice" if rate == 2 else ""
            problem(Settings.input, f"{SIGNALS[i].keyword} must be differentiable{often}: a {SIGNALS[i].kind} is not")
        if rate == 2 and SIGNALS[i].straight:
            problem(Settings.input, f"{SIGNALS[i].keyword} must be differentiable twice: straight lines are not")


def signal_value(s, rate, t):
    """A signal, its rate of change, or the rate of that, at a time in its own unit."""
    if s.kind in KINDS:
        return KINDS[s.kind].value(rate, t, *s.numbers)
    return float(Spline(s.points, s.pieces.ravel(), rate)(t))


def breaks_of(s):
    """Times at which a signal jumps or has a kink."""
    if s.kind in KINDS:
        return KINDS[s.kind].breaks(*s.numbers)
    slopes = s.pieces[:, 1]
    return s.points[1:-1][np.abs(np.diff(slopes)) > INPUTS.kink * np.abs(slopes).max()].tolist() if s.straight else []


def breaks_until(t_end, steps):
    """Times in order at which steps are split; a signal with more of them than there are steps is taken as smooth."""
    listed = [[b for b in breaks_of(s) if 0 < b <= t_end] for s in SIGNALS]
    return tuple(sorted({b for one in listed if len(one) <= steps for b in one}))


def inputs_at(t):
    return [*(SIGNALS[i].factor * signal_value(SIGNALS[i], rate, t) for i, rate in settings.INPUTS), *KEPT]
