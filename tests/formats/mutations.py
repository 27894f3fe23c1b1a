"""Seeded mutations of decks and formulas: characters, words and forms lost, doubled, exchanged or
replaced by odd ones."""

import re
import signal
import threading
from contextlib import contextmanager

TOKEN = re.compile(r'!"[^"]*"|"[^"]*"|#2a\(|#\(|[()]|[^\s()"]+|\s+')
CHARACTERS = "()\"!#[];:*/+-. \n09aqxKu'`,|\\"
ODD = (
    "0",
    "-1",
    "1e308",
    "1/0",
    "1e-300",
    "nil",
    "t",
    "()",
    "(",
    "#(",
    ")",
    '"',
    '!"',
    '!"q(99)"',
    '!"1/0"',
    '!"2**9999"',
    '!"q(1)**99999"',
    '!"x**-1"',
    '!"func(sqrt, -1)"',
    "[n1]",
    "[n9]",
    "n",
    "o",
    ":mass",
    "#.(run)",
    "'",
    "`",
    "|",
    "\\",
    "\x00",
    "\u041a",
    "b",
    "a",
    "1.5",
    "99999999999999999999",
    '!"-[n2]"',
    '!"dot([n1],[n1])"',
    '!"0"',
    '!"func(exp, func(exp, q(1)))"',
    '!"u(1)**2"',
    '!"dxdt(u(1))"',
    '!"t"',
    "#2a((1 2 3) (4 5 6) (7 8 9))",
    "(reset)",
    "(add-body zz :translate 1)",
    "(mks)",
    "(in-lb)",
)
PIECES = (
    "(",
    ")",
    "+",
    "*",
    "**",
    "/",
    "-",
    ",",
    "q(1)",
    "u(2)",
    "#roll",
    "[b1]",
    "[n2]",
    "dot(",
    "vel(",
    "rot(b)",
    "0",
    "1e999",
    "1e308",
    "func(f,",
    "sin(",
    "**9999",
    "/0",
    "angle(",
    "dxdt(",
    "partial(",
    "where(",
    "<",
    "pi",
    "t",
    "x0",
    ".",
    "e",
    "  ",
    "\n",
    "°",
)


def tokens(text):
    """All words of a deck, for exchange."""
    return [t for t in TOKEN.findall(text) if not t.isspace()]


def mutated_deck(text, words, rng):
    """The deck with one to six changes; `words` are those of the whole deck."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        text = (
            _changed_characters(text, rng)
            if rng.random() < 0.35
            else _changed_words(text, words, rng)
        )
    return text


def _changed_characters(text, rng):
    at = rng.randrange(len(text) + 1)
    new = rng.choice(("", rng.choice(CHARACTERS), rng.choice(CHARACTERS)))
    return text[:at] + new + text[at + rng.randrange(2) :]


def _changed_words(text, words, rng):
    found = TOKEN.findall(text)
    places = [i for i, t in enumerate(found) if not t.isspace()]
    if not places:
        return text
    i, j = rng.choice(places), rng.choice(places)
    match rng.randrange(6):
        case 0:
            del found[i]
        case 1:
            found[i] = rng.choice(words)
        case 2:
            found[i] = rng.choice(ODD)
        case 3:
            found.insert(i, f" {rng.choice(ODD)} ")
        case 4:
            found[i], found[j] = found[j], found[i]
        case _:
            if found[i].startswith('!"') and len(found[i]) > 3:
                found[i] = f'!"{mutated_formula(found[i][2:-1], rng, 1)}"'
    return "".join(found)


def mutated_formula(text, rng, changes):
    """A formula with pieces put in, lost or doubled."""
    for _ in range(changes):
        at, end = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        match rng.randrange(4):
            case 0:
                text = text[:at] + rng.choice(PIECES) + text[at:]
            case 1:
                text = text[:at] + text[min(end, at + 3) :]
            case 2:
                text = text[:end] + text[at:]
            case _:
                text = text[:at] + rng.choice(PIECES) + text[min(end, at + 2) :]
    return text[:2000]


class Hang(BaseException):
    """What takes longer than any input of its size should."""


@contextmanager
def no_longer_than(seconds):
    """Ends a piece of work that hangs; only the main thread can be interrupted."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        return

    def ring(*_):
        raise Hang(f"longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
