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
