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
