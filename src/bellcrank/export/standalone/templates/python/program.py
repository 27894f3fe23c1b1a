"""A complete simulation program, written by Bellcrank.

It reads parameters, initial values and inputs from a parameter file, writes an echo of all of them that is itself a
parameter file, runs, and writes every channel over time. `--help` lists the options. It needs Python and NumPy.
settings.py tells the model and its defaults, model.py holds the equations of motion, routines.py tables and external
routines. Files are in the units named there; equations use rad and consistent units; `factor` leads from the one to the
other.
"""

import argparse
import csv
import math
import os
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))  # python -I does not look beside the program

import choosing
import model
import settings
from numeric.branch import NotClosed
from numeric.course import Course
from numeric.events import Watch
from numeric.integrate import advance_by
from numeric.methods import METHODS, OWN, one_of
from numeric.tuning import BRIDGES, CONTROL, INPUTS, PLANS
from routines import ROUTINES
from signals import KINDS
from tables import Spline, set_live

FINE, ENDED_EARLY, INTERRUPTED = 0, 4, 130  # exit codes; problems end with 1


class Quantity:
    """A parameter or a state: value in its unit, of which one is `factor` equation units."""

    def __init__(self, keyword, unit, label, factor, value, given):
        self.keyword, self.unit, self.label, self.factor = keyword, unit, label, factor
        self.value, self.given = value, given


class Signal:
    """An input over time, in its unit: kind and numbers, or points and cubic pieces; kind "" while none is given."""

    def __init__(self, keyword, unit, label, factor, kind, numbers):
        self.keyword, self.unit, self.label, self.factor = keyword, unit, label, factor
        self.kind, self.numbers, self.file, self.straight = kind, numbers, "", False
        self.points, self.pieces = np.empty(0), np.empty((0, 4))


PARAMETERS = [Quantity(*row) for row in settings.PARAMETERS]
STATES = [Quantity(*row) for row in settings.STATES]
SIGNALS = [Signal(*row) for row in settings.SIGNALS]
ENTERED = [Quantity(*row) for row in settings.ENTERED]
ECHOED = [Quantity(*row) for row in settings.ECHOED]
N_Q, STEM = settings.N_Q, settings.STEM
KEPT = [0.0] * settings.KEPT  # values of external routines that are kept over a run or a step: they follow the inputs


KNOWN = one_of((*METHODS, *OWN))  # methods


class Settings:
    title, t_end, step, every, method = settings.RUN
    tolerances = choosing.Tolerances()


problems = []


def problem(place, text):
    """What goes wrong is collected and told before anything runs."""
    problems.append(f"{place}: {text}" if place else text)


def stop_if_problems():
    """Ends the program if anything is wrong."""
    if problems:
        sys.exit("\n".join(f"{STEM}: {p}" for p in problems))


# ---- the parameter file


def plain(text):
    """Small letters, without blanks."""
    return "".join(text.split()).lower()


def number_of(word):
    """A finite number as C and Fortran write it (1.5, 2E-3, 1D0), or None."""
    if not word or any(ch not in "0123456789+-.eEdD" for ch in word):
        return None
    try:
        value = float(word.replace("d", "e").replace("D", "E"))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def read_lines(name, folder, place):
    """Path and lines of a file that stands beside another one, or where the program runs."""
    for path in (Path(folder) / name, Path(name)):
        if path.is_file():
            try:
                return path, path.read_text(encoding="utf-8-sig").split("\n")
            except (OSError, UnicodeDecodeError):
                break
    problem(place, f"cannot read {name}")
    return Path(name), None


def closing(content):
    """Where a keyword with brackets ends, which may have blanks in them; 0 without."""
    depth = 0
    for i, ch in enumerate(content):
        depth += (ch == "(") - (ch == ")")
        if (ch.isspace() and not depth) or depth < 0:
            return 0
        if ch == ")" and not depth:
            return i + 1
    return 0


def read_parsfile(name, folder=".", place="", depth=0):
    """Reads a parameter file, and those it names in their places."""
    if depth >= 20:
        return problem(place, "parameter files name each other more than 20 deep")
    path, lines = read_lines(name, folder, place)
    begun = lines is None
    for number, line in enumerate(lines or [], 1):
        content, here = line.strip(), f"{path}, line {number}"
        if not content or content.startswith("*"):
            continue
        first = content.split(None, 1)[0]
        end = closing(content) or len(first)
        keyword, rest = plain(content[:end]), content[end:].strip()
        if not begun:
            if keyword != "parsfile" or rest:
                return problem(here, "a parameter file begins with the line PARSFILE")
            begun = True
        elif keyword == "end":
            return None
        elif keyword == "title":
            Settings.title = rest
        elif keyword == "parsfile":
            if rest:
                read_parsfile(rest, path.parent, here, depth + 1)
            else:
                problem(here, "PARSFILE needs the name of a file")
        else:
            read_entry(keyword, rest.split(), here, path.parent)
    if not begun:
        problem(path, "a parameter file begins with the line PARSFILE; this one is empty")
    return None


def read_entry(keyword, words, place, folder):
    word = words[0] if words else ""
    known = {plain(q.keyword): q for q in (*STATES, *PARAMETERS)}
    known |= {f"q({i})": q for i, q in enumerate(STATES[:N_Q], 1) if f"q({i})" not in known}
    known |= {f"u({i})": q for i, q in enumerate(STATES[N_Q:], 1) if f"u({i})" not in known}
    for signal in SIGNALS:
        if plain(signal.keyword) == keyword:
            return read_input(signal, words, place, folder)
    if keyword in known:
        value = number_of(word)
        if value is None:
            return problem(place, f"{known[keyword].keyword} needs a number, found '{word}'")
        known[keyword].value, known[keyword].given = value, True
    elif keyword in settings.REMOVED:
        problem(place, f"{keyword} follows from a constraint and cannot be given")
    elif not read_setting(keyword, word, place):
        problem(place, f"no keyword is called '{keyword}'; {STEM}.par has all of them")
    return None


def read_setting(keyword, word, place):
    """Settings of the run; false if the keyword is none of them."""
    if keyword == "method":
        if word.lower() in (*METHODS, *OWN):
            Settings.method = word.lower()
        else:
            problem(place, f"the method is {KNOWN}, found '{word}'")
        return True
    absolute = keyword == "atol" or (keyword.startswith("atol(") and keyword.endswith(")"))
    if not absolute and keyword not in ("stopt", "step", "iprint", "rtol"):
        return False
    value = number_of(word)
    if value is None or value <= 0:
        problem(place, f"{keyword} needs a positive number, found '{word}'")
    elif absolute:
        inner = keyword[5:-1]
        if not Settings.tolerances.set_absolute(inner, value, STATES):
            problem(place, f"{keyword}: no state is called '{inner}', and none has such a unit")
    elif keyword == "rtol" and value < CONTROL.finest:
        problem(place, f"rtol {value:g} is below {CONTROL.finest:g}, which double precision cannot keep")
    elif keyword == "rtol":
        Settings.tolerances.rtol = value
    elif keyword == "stopt":
        Settings.t_end = value
    elif keyword == "step":
        Settings.step = value
    elif value != int(value):
        problem(place, f"iprint needs a whole number of at least 1, found '{word}'")
    else:
        Settings.every = int(value)
    return True


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


# ---- the echo file: a parameter file with everything as it was used


def echo_line(keyword, value, unit, label):
    if Settings.layout == "classic":
        return f"{keyword:<8}{number_g(value):>13}  {label} ({unit})"
    return f"{keyword:<15} {value!r:<24} {unit}  {label}"


def write_echo(e, y):
    lines = ["PARSFILE", f"* Echo file of {settings.TITLE}", f"* Input file: {Settings.input}"]
    lines += [f"* Run was made {time.strftime('%Y-%m-%d %H:%M:%S')}", f"TITLE {Settings.title}", "", "* run"]
    lines.append(echo_line("STOPT", Settings.t_end, "s", "end of the run"))
    lines.append(echo_line("STEP", Settings.step, "s", "time step"))
    lines.append(echo_line("IPRINT", float(Settings.every), "-", "steps from one output to the next"))
    lines.append(f"METHOD          {Settings.method}")
    lines += [echo_line(*told) for told in Settings.tolerances.echoed(STATES)] if Settings.method in OWN else []
    lines += ["", "* parameters"]
    lines += [echo_line(p.keyword, float(p.value), p.unit, p.label) for p in PARAMETERS]
    lines += ["", "* inputs"] if SIGNALS else []
    for s in SIGNALS:
        shown = s.file if s.kind == "file" else " ".join(map(repr, s.numbers))
        lines.append(f"{s.keyword:<15} {s.kind} {shown}   {s.unit}  {s.label}")
    lines += ["", "* initial values"]
    for s, x in zip(STATES, y.tolist()):
        told = s.given and s.value * s.factor == x
        lines.append(echo_line(s.keyword, float(s.value) if told else x / s.factor, s.unit, s.label))
    lines += ["", "* from external routines"] if ENTERED or ECHOED else []
    if ECHOED:
        e.hold(0.0, y, first=True, live=0)
    values = [*e.p[settings.N_GIVEN :], *(e.call(model.echo, 0.0, y) if ECHOED else ())]
    lines += [
        "* " + echo_line(x.keyword, float(v / x.factor), x.unit, x.label) for x, v in zip((*ENTERED, *ECHOED), values)
    ]
    try:
        with Result() as result:
            result.beside(Settings.echo).write_text("\n".join([*lines, "END", ""]), encoding="utf-8")
    except OSError as error:
        problem(Settings.echo, f"this file cannot be written ({error.strerror})")


# ---- result files


class Result:
    """Files written beside their places, and moved there when all are whole."""

    def __init__(self):
        self.parts = []

    def beside(self, path):
        part = path if path.startswith("/dev/") else path + ".part"
        self.parts.append((part, path))
        return Path(part)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        for part, path in self.parts:
            if part != path:
                os.replace(part, path) if kind is None else Path(part).unlink(missing_ok=True)


# ---- the output file


def number_g(x):
    """A number as Fortran's G13.6 prints it, for the layout of 1990."""
    exponent = int(f"{x:.5e}".partition("e")[2]) + 1 if x else 1
    if 0 <= exponent <= 6:
        text = f"{x:.{6 - exponent}f}"
        return f"{text if '.' in text else text + '.':>9}    "
    digits = f"{abs(x):.5e}".partition("e")[0].replace(".", "")
    return f"{'-' if x < 0 else ''}0.{digits}E{exponent:+03d}"


def header(channels, samples):
    n, classic = len(channels), Settings.layout == "classic"
    step = Settings.step * Settings.every
    sizes = {"text": (-1, 1, 5), "binary": (samples, 8 * n, 2), "classic": (samples, 4 * n, 1)}[Settings.layout]
    shown = f"{number_g(step):>13}" if classic else repr(step)
    yield "ERDFILEV2.00"
    yield ",".join(f"{x:6}" for x in (n, samples, *sizes)) + "," + shown
    yield f"TITLE {Settings.title}"
    for keyword, place, width in (
        ("SHORTNAM", 1, 8), ("LONGNAME", 3, 32), ("UNITSNAM", 2, 8), ("GENNAME ", 4, 32), ("RIGIBODY", 5, 32)
    ):  # fmt: skip
        yield keyword + "".join(f"{c[place]:{width}.{width}}" for c in channels)
    yield "XLABEL Time"
    yield "XUNITS sec"
    for c in () if classic else channels:
        yield "CHANNEL " + " ".join('"' + c[i].replace('"', '""') + '"' for i in (0, 2, 3, 4, 5))
    yield f"HISTORY Input parameter file was {Settings.input}"
    yield f"HISTORY Data generated with {settings.TITLE}"
    yield "END"


def write_output(stream, rows, result):
    """Writes all channels in their units; the file was opened before the run."""
    first = 1 + len(STATES) + settings.N_OUT  # column of the first input
    rows = rows[:, [*range(first), *(first + i for i in settings.SHOWN)]]
    rows = rows / np.array([1.0, *(c[6] for c in settings.CHANNELS)])
    step = Settings.step * Settings.every
    channels = [("t", "t", "s", "Time", "Time", "", 1.0), *settings.CHANNELS]
    if Settings.layout == "csv":
        writer = csv.writer(stream)
        writer.writerow([c[0] for c in channels])
        writer.writerow([c[2] for c in channels])
        writer.writerows([repr(x) for x in row] for row in rows.tolist())
        return
    if Settings.layout == "classic":
        channels = settings.CHANNELS
        if len(rows) > 1 and abs(rows[-1, 0] - (len(rows) - 1) * step) > PLANS.raster * step:
            rows = rows[:-1]  # a last sample off the raster
    stream.write("\n".join(header(channels, len(rows))) + "\n")
    if Settings.layout == "text":
        stream.writelines(" ".join(map(repr, row)) + "\n" for row in rows.tolist())
    elif Settings.layout == "binary":
        result.beside(Settings.output + ".bin").write_bytes(rows.astype("<f8").tobytes())
    else:
        kind = np.dtype([("before", "<i4"), ("row", "<f4", (len(settings.CHANNELS),)), ("after", "<i4")])
        records = np.empty(len(rows), kind)
        records["before"] = records["after"] = 4 * len(settings.CHANNELS)
        records["row"] = rows[:, 1:]
        result.beside(Settings.output + ".BIN").write_bytes(records.tobytes())


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
    kept, n_s = KEPT, len(STATES)
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
        row = np.array([t, *q, *u, *model.outputs(t, q, u, self.p, self.c, w, ROUTINES), *w])
        set_live(0)
        return row


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


class Steps:
    """Steps of a fixed length, from a state on: the state y and its rates k."""

    def __init__(self, e, course, y):
        self.e, self.course, self.y, self.k = e, course, y, None
        self.advance = advance_by(course.method, N_Q)

    def begin(self, t, goes_on=False):
        """Takes the start; routines keep and remember nothing of one that goes on."""
        e = self.e
        self.k = (e.rates if goes_on else e.settled)(t, self.y)
        if e.keeper is not None:
            e.keeper.remember(t, self.k)

    def step(self, i):
        """Takes step i; what is wrong if it cannot be taken."""
        e = self.e
        inner = e.settled if METHODS[self.course.method].remembers else e.rates
        try:
            for part in self.course.parts(i):
                new, state = self.moved(e, part, self.y, self.k, inner)
                bad = [s.keyword for s, x in zip(STATES, new) if not math.isfinite(x)]
                if bad:
                    return f"{', '.join(bad)} is no longer a finite number; try a smaller step"
                if part.last:
                    e.hold(part.after, new)
                self.y, self.k = new, (e.settled if part.last else e.rates)(part.after, new)
                if e.keeper is not None and state is not None:
                    e.keeper.accept(part.end, self.y, self.k, state)
        except NotClosed as error:
            lost = error.state
            return f"the loop {lost.row} cannot be kept closed: a correction of {lost.moved:.2g} was needed"
        except (ArithmeticError, ValueError, np.linalg.LinAlgError) as error:
            return f"the rates cannot be evaluated any more ({error}); try a smaller step"
        return ""

    def moved(self, e, part, y, k, inner):
        """The state after a part of a step, brought onto the constraints."""
        times = part.t, part.middle, part.before
        if e.keeper is None:
            return self.advance(inner, times, y, part.h, k), None
        return e.keeper.step(self.advance, inner, e.rates, times, y, part.h, k)

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


NO_CONSTANTS = "the constants of the model cannot be computed: may a mass, inertia or length be zero?"


def parameters_now():
    """Parameters in equation units, and the constants that follow from them."""
    p = [x.value * x.factor for x in PARAMETERS[: settings.N_GIVEN]]
    if ENTERED:
        p += model.entry(0.0, [], [], p, [], [], ROUTINES)
    return p, model.constants(p, ROUTINES)


def simulate():
    try:
        p, c = parameters_now()
    except (ArithmeticError, ValueError):
        p, c = [], [math.nan]
    if not all(map(math.isfinite, c)):
        problem(Settings.input, NO_CONSTANTS)
    check_inputs()
    stop_if_problems()
    e, y = Evaluation(p, c), np.array([s.value * s.factor for s in STATES])
    if settings.LOOPS is not None:
        y = close_loops(e, y)
    write_echo(e, y)
    stop_if_problems()
    try:
        with Result() as result, result.beside(Settings.output).open("w", encoding="utf-8", newline="") as stream:
            return run(e, y, stream, result)
    except OSError as error:
        problem(Settings.output, f"this file cannot be written ({error.strerror})")
    return stop_if_problems()


def run(e, y, stream, result):
    n = Settings.t_end / Settings.step
    total = round(n) if abs(round(n) * Settings.step - Settings.t_end) < PLANS.at_end * Settings.t_end else math.ceil(n)
    start = time.perf_counter()
    with np.errstate(all="ignore"):
        rows, steps, told, ended = take_steps(e, y, total)
    seconds = time.perf_counter() - start
    write_output(stream, np.array(rows), result)
    stream.flush()
    how = ended or f"finished at t = {Settings.t_end:g} s"
    print(f"{Settings.title}: {steps}, {Settings.method}, {how}", *told, sep="\n")
    print(f"{seconds:.3g} s of computing\nwrote {Settings.output} and {Settings.echo}")
    return ENDED_EARLY if ended else FINE


def main():
    parser = argparse.ArgumentParser(prog=STEM, description=settings.TITLE, allow_abbrev=False)
    parser.add_argument("input", nargs="?", default=f"{STEM}.par", metavar="PARSFILE", help=f"default: {STEM}.par")
    words = f"all channels (default: {STEM}.erd; .csv: a table)"
    parser.add_argument("--output", default=f"{STEM}.erd", metavar="FILE", help=words)
    words = f"everything as it was used (default: {STEM}.echo)"
    parser.add_argument("--echo", default=f"{STEM}.echo", metavar="FILE", help=words)
    parser.add_argument("--t-end", metavar="S", help="end of the run in s, instead of STOPT of the file")
    parser.add_argument("--step", metavar="S", help="time step in s, instead of STEP")
    parser.add_argument("--method", metavar="NAME", help=f"{KNOWN}, instead of METHOD")
    parser.add_argument("--every", metavar="N", help="steps from one output to the next, instead of IPRINT")
    words = "relative tolerance of methods that choose their steps, instead of RTOL"
    parser.add_argument("--rtol", metavar="E", help=words)
    words = "absolute tolerance in the unit of each state, instead of ATOL"
    parser.add_argument("--atol", metavar="E", help=words)
    layout = parser.add_mutually_exclusive_group()
    layout.add_argument("--binary", action="store_true", help="ERD file with 64-bit samples beside it")
    layout.add_argument(
        "--classic", action="store_true", help="ERD file and echo in the layout of 1990: 32 bit, 6 digits"
    )
    args = parser.parse_args()
    Settings.input, Settings.output, Settings.echo = args.input, args.output, args.echo
    Settings.layout = "binary" if args.binary else "classic" if args.classic else "text"
    if args.output.lower().endswith(".csv"):
        if Settings.layout != "text":
            parser.error("--binary and --classic are layouts of ERD files")
        Settings.layout = "csv"
    read_parsfile(args.input)
    same = [(x, x) for x in ("step", "method", "rtol", "atol")]
    for option, keyword in (("t_end", "stopt"), *same, ("every", "iprint")):
        if getattr(args, option) is not None:
            read_setting(keyword, getattr(args, option), f"--{option.replace('_', '-')}")
    check_values()
    stop_if_problems()
    return simulate()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
