"""Runs the model in model.py with a fixed step and writes all channels as a table; `--help` lists
the options.

Parameters, initial values and inputs come from a parameter file in the units named there; model.py
has the factors that lead to equation units (rad, and consistent units of length, mass and time).
"""

import argparse
import csv
import math
import os
import re
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # python -I does not look here

import model

if model.SIGNALS:
    import signals

STEM, N_Q, METHODS = Path(__file__).stem, model.N_Q, ("rk2", "rk4")
NUMBERED = {f"q({i})" if i <= N_Q else f"u({i - N_Q})": s[0] for i, s in enumerate(model.STATES, 1)}
problems = []  # all of them are reported before anything runs


def problem(location, text):
    problems.append(f"{location}: {text}" if location else text)


def plain(text):
    """Small letters without blanks."""
    return "".join(text.split()).lower()


def number(text):
    """A finite number as C and Fortran write it (1.5, 2E-3, 1D0), or None."""
    if not re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([ed][-+]?\d+)?", text, re.IGNORECASE | re.ASCII):
        return None
    value = float(text.lower().replace("d", "e"))
    return value if math.isfinite(value) else None


def lines_of(name, folder):
    """Path and lines of a file in the folder of the one that names it, or in the current folder."""
    try:
        path = folder / name if (folder / name).is_file() else Path(name)
        return path, path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, ValueError):
        raise ValueError(f"cannot read {name}") from None


def read(name, entries, folder, location="", depth=0):
    """Words, line and folder of each keyword in a parameter file and in those that it names."""
    try:
        path, lines = lines_of(name, folder)
    except ValueError as error:
        return problem(location, str(error))
    rows = [(f"{path}, line {i}", line.strip()) for i, line in enumerate(lines, 1)]
    rows = [
        (line_place, line) for line_place, line in rows if line and not line.startswith("*")
    ] or [(path, "")]
    if plain(rows[0][1]) != "parsfile":
        empty = "" if rows[0][1] else "; this one is empty"
        return problem(rows[0][0], f"a parameter file begins with the line PARSFILE{empty}")
    for line_place, line in rows[1:]:
        first = (re.match(r"[^\s(]+\((?:[^()]|\([^()]*\))*\)", line) or re.match(r"\S+", line))[0]
        keyword, words = plain(first), line[len(first) :].split()
        if keyword == "end":
            break
        if keyword != "parsfile":
            entries[plain(NUMBERED.get(keyword, keyword))] = words, line_place, path.parent
        elif not words:
            problem(line_place, "PARSFILE needs the name of a file")
        elif depth == 20:
            problem(line_place, "parameter files name each other more than 20 deep")
        else:
            read(" ".join(words), entries, path.parent, line_place, depth + 1)
    return None


def values(rows, entries, positive=False):
    """Values in equation units: those of the file, else those of the model."""
    results = []
    for keyword, _unit, _label, factor, value in rows:
        words, location, _ = entries.pop(plain(keyword), ([repr(value)], "", None))
        text = words[0] if words else ""
        value = number(text)
        if text == "None":
            problem("", f"no value is given for {keyword}")
        elif value is None or (positive and value <= 0):
            problem(location, f"{keyword} needs a {'positive ' * positive}number, found '{text}'")
        results.append((value or 1.0 * positive) * factor)
    return results


def inputs_of(entries, t_end):
    """The inputs over time."""
    inputs = []
    for i, (keyword, _unit, _label, _factor, usual) in enumerate(model.SIGNALS):
        words, location, folder = entries.pop(plain(keyword), (usual, "", None))
        rate = max(rate for j, rate in model.INPUTS if j == i)
        try:
            inputs.append(
                signals.Signal(words, partial(lines_of, folder=folder), number, rate, t_end)
            )
        except ValueError as error:
            problem(location, str(error).replace("INPUT", keyword))
    return inputs


def parts(t, end, tolerance, breaks):
    """A step, cut where an input jumps or has a kink: start, end, and the times just before and
    after that."""
    inner = [b for b in breaks if t + tolerance < b <= end + tolerance]
    while t < end:
        next_break = inner[0] if inner else math.inf
        step_end = next_break if next_break < end - tolerance else end
        last = max([b for b in inner if b <= next_break + tolerance], default=step_end)
        yield (
            t,
            step_end,
            math.nextafter(min(next_break, step_end), -math.inf) if inner else step_end,
            max(last, step_end),
        )
        inner, t = [b for b in inner if b > last], step_end


def advance(method, rates, t, end, t_before, y, k):
    """The state after a step; k: the rates at its start, before: when inputs are read at its
    end."""

    def stepped(h, k):
        return [x + h * rate for x, rate in zip(y, k)]

    h, middle = end - t, 0.5 * (t + end)
    k2 = rates(middle, stepped(h / 2, k))
    if method == "rk2":  # midpoint rule
        new = stepped(h, k2)
    else:
        k3 = rates(middle, stepped(h / 2, k2))
        k4 = rates(t_before, stepped(h, k3))
        new = stepped(h / 6, [a + 2 * b + 2 * c + d for a, b, c, d in zip(k, k2, k3, k4)])
    for i in model.UNIT:  # Euler parameters
        size = math.hypot(*new[i : i + 4])
        new[i : i + 4] = [x / size for x in new[i : i + 4]]
    return new


def run(rows, method, step, every, t_end, p, c, y, inputs):
    """Takes all steps and writes every n-th; the number of the last one, and what ended the run
    early."""
    total = round(t_end / step)
    total = total if abs(total * step - t_end) < model.AT_END * t_end else math.ceil(t_end / step)
    listed = [[b for b in s.breaks if 0 < b <= t_end] for s in inputs]
    breaks = sorted({b for one in listed if len(one) <= total for b in one})

    def at(t, y):
        w = [model.SIGNALS[i][3] * inputs[i].value(rate, t) for i, rate in model.INPUTS]
        return t, y[:N_Q], y[N_Q:], p, c, w, model.ROUTINES

    def rates(t, y):
        return [x for part in model.derivatives(*at(t, y)) for x in part]

    def write(t, y):
        arguments = at(t, y)
        try:
            outputs = model.outputs(*arguments)
        except (ArithmeticError, ValueError):
            outputs = [math.nan] * model.N_OUT
        row = [*y, *outputs, *(arguments[5][i] for i in model.SHOWN)]
        rows.writerow([repr(t), *(repr(x / channel[2]) for x, channel in zip(row, model.CHANNELS))])

    write(0.0, y)
    i = 0
    try:
        k = rates(0.0, y)
        for i in range(1, total + 1):
            end = t_end if i == total else i * step
            for t, step_end, t_before, t_after in parts(
                (i - 1) * step, end, model.NEAR * step, breaks
            ):
                y = advance(method, rates, t, step_end, t_before, y, k)
                k = rates(t_after, y)
            not_finite = [s[0] for s, x in zip(model.STATES, y) if not math.isfinite(x)]
            if not_finite:
                raise ArithmeticError(f"{', '.join(not_finite)} is no longer a finite number")
            if i % every == 0 or i == total:
                write(end, y)
    except (ArithmeticError, ValueError) as error:
        return i, f"stopped at t = {i * step:g} s: {error}; try a smaller step"
    return total, ""


def main():
    parser = argparse.ArgumentParser(prog=STEM, description=model.TITLE, allow_abbrev=False)
    parser.add_argument(
        "input", nargs="?", default=f"{STEM}.par", metavar="PARSFILE", help=f"default: {STEM}.par"
    )
    parser.add_argument(
        "--output",
        default=f"{STEM}.csv",
        metavar="FILE",
        help=f"all channels (default: {STEM}.csv)",
    )
    options = {
        "--t-end": "stopt",
        "--step": "step",
        "--output-every": "iprint",
        "--method": "method",
    }
    for option, keyword in options.items():
        parser.add_argument(
            option, dest=keyword, metavar="X", help=f"instead of {keyword.upper()} of the file"
        )
    args, entries = parser.parse_args(), {}
    read(args.input, entries, Path())
    entries |= {
        k: ([x], option, None)
        for option, k in options.items()
        if (x := getattr(args, k)) is not None
    }
    title = " ".join(entries.pop("title", ([model.TITLE],))[0])
    words, location, _ = entries.pop("method", ([model.METHOD], "", None))
    method = "".join(words[:1]).lower()
    if method not in METHODS:
        problem(
            location,
            f"the method is {' or '.join(METHODS)}, found '{method}'; programs in C and "
            f"Fortran have others",
        )
    t_end, step, every = values(model.RUN, entries, positive=True)
    if every != int(every):
        problem(args.input, f"iprint needs a whole number of at least 1, found '{every:g}'")
    if step > t_end * (1 + model.AT_END):
        problem(args.input, f"STEP {step:g} s is larger than STOPT {t_end:g} s")
    p, y, inputs = (
        values(model.PARAMETERS, entries),
        values(model.STATES, entries),
        inputs_of(entries, t_end),
    )
    for keyword, (_, location, _) in entries.items():
        constrained = f"{keyword} follows from a constraint and cannot be given"
        unknown = f"no keyword is called '{keyword}'; {STEM}.par has all of them"
        problem(location, constrained if keyword in model.REMOVED else unknown)
    try:
        p += model.entry(0.0, [], [], p, [], [], model.ROUTINES) if hasattr(model, "entry") else []
        c = model.constants(p, model.ROUTINES)
    except (ArithmeticError, ValueError):
        c = [math.nan]
    if not all(map(math.isfinite, c)):
        problem(
            args.input,
            "the constants of the model cannot be computed: may a mass, inertia or length be zero?",
        )
    if not problems:
        part = f"{args.output}.part"
        try:
            with open(part, "w", encoding="utf-8", newline="") as stream:
                rows = csv.writer(stream)
                rows.writerows(
                    [["t", *(x[0] for x in model.CHANNELS)], ["s", *(x[1] for x in model.CHANNELS)]]
                )
                last, end_text = run(rows, method, step, every, t_end, p, c, y, inputs)
            os.replace(part, args.output)
        except OSError as error:
            Path(part).unlink(missing_ok=True)
            problem(args.output, f"this file cannot be written ({error.strerror})")
    if problems:
        sys.exit("\n".join(f"{STEM}: {x}" for x in problems))
    print(
        f"{title}: {last} steps of {step:g} s, {method}, "
        f"{end_text or f'finished at t = {t_end:g} s'}"
    )
    print(f"wrote {args.output}")
    return 4 if end_text else 0


if __name__ == "__main__":
    sys.exit(main())
