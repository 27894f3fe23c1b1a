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
