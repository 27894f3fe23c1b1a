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
    rows = np.array(rows)
    write_output(stream, rows, result)
    stream.flush()
    how = ended or f"finished at t = {Settings.t_end:g} s"
    print(f"{Settings.title}: {steps}, {Settings.method}, {how}", *told, *without_value(rows), sep="\n")
    print(f"{seconds:.3g} s of computing\nwrote {Settings.output} and {Settings.echo}")
    return ENDED_EARLY if ended else FINE


def without_value(rows):
    """A note for each output that is not a finite number somewhere."""
    first = 1 + len(STATES)
    for i, c in enumerate(settings.CHANNELS[len(STATES) :][: settings.N_OUT]):
        bad = rows[~np.isfinite(rows[:, first + i])]
        if len(bad):
            more = f" and {len(bad) - 1} more times" if len(bad) > 1 else ""
            yield f"note: output '{c[0]}' is {bad[0, first + i]} at t = {bad[0, 0]:.6g} s{more}"


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
