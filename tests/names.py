"""Names that say little, and layout that hides code: measured, with ceilings that may only fall.

    python -m tests.names                  # figures of src/bellcrank, and an error above a ceiling
    python -m tests.names --list           # bare definitions and docstrings that begin with a clause
    python -m tests.names --list-locals    # bare arguments and variables
    python -m tests.names --draw 60 7      # 60 names at random (seed 7), for a reader to explain

A name is bare if all its words are participles, verbs or fillers of the list below, so that it does
not say of what. The list is a detector and no law: a word of the field that it flags stays, with an
entry in NOUNS.
"""

import argparse
import ast
import collections
import io
import random
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "bellcrank"
CEILINGS = {
    "bare definitions per 1,000": 9.5,
    "bare arguments and variables per 1,000": 7.8,
    "class names in several files": 7,
    "function names in several files": 66,
    "methods of one word, %": 37.0,
    "docstrings that begin with a clause, %": 15.4,
    "tokens on a line": 9.0,
    "lines with fmt: skip": 5,
    "Any in simulation": 201,
}
FILLERS = set(
    [
        "given",
        "gives",
        "giving",
        "give",
        "asked",
        "asks",
        "told",
        "tells",
        "tell",
        "found",
        "finds",
        "find",
        "known",
        "knows",
        "know",
        "kept",
        "keeps",
        "keep",
        "held",
        "holds",
        "hold",
        "begun",
        "begins",
        "beginning",
        "beginnings",
        "begin",
        "ended",
        "ends",
        "end",
        "goes",
        "going",
        "gone",
        "go",
        "went",
        "left",
        "leaves",
        "stays",
        "stay",
        "stood",
        "stands",
        "stand",
        "rests",
        "rest",
        "wanted",
        "wants",
        "allowed",
        "allows",
        "remaining",
        "remains",
        "ready",
        "starts",
        "start",
        "started",
        "stops",
        "stop",
        "stopped",
        "taken",
        "takes",
        "take",
        "taking",
        "made",
        "makes",
        "make",
        "put",
        "puts",
        "placed",
        "places",
        "place",
        "where",
        "here",
        "there",
        "near",
        "nearest",
        "far",
        "beside",
        "within",
        "between",
        "behind",
        "ahead",
        "over",
        "under",
        "again",
        "anew",
        "alike",
        "same",
        "other",
        "others",
        "such",
        "both",
        "whole",
        "half",
        "halves",
        "part",
        "parts",
        "piece",
        "pieces",
        "looks",
        "look",
        "looking",
        "seen",
        "sees",
        "see",
        "shown",
        "shows",
        "show",
        "said",
        "says",
        "say",
        "stated",
        "states_",
        "heard",
        "felt",
        "feels",
        "turned",
        "turns",
        "turn",
        "despun",
        "mended",
        "mends",
        "changed",
        "changes",
        "change",
        "moved",
        "moves",
        "move",
        "driven",
        "drives",
        "pulled",
        "pull",
        "pushed",
        "push",
        "reached",
        "reaches",
        "reach",
        "passed",
        "passes",
        "happened",
        "happens",
        "happen",
        "followed",
        "follows",
        "follow",
        "follower",
        "added",
        "adds",
        "add",
        "more",
        "most",
        "less",
        "least",
        "few",
        "many",
        "much",
        "all",
        "any",
        "some",
        "none",
        "own",
        "now",
        "then",
        "later",
        "before",
        "after",
        "once",
        "twice",
        "soon",
        "still",
        "yet",
        "already",
        "able",
        "right",
        "wrong",
        "good",
        "bad",
        "true_",
        "sure",
        "fit",
        "fits",
        "fitting",
        "used",
        "uses",
        "use",
        "useful",
        "needed",
        "needs",
        "need",
        "named",
        "names_",
        "called",
        "calls",
        "counted",
        "counts",
        "watched",
        "watches",
        "watching",
        "waiting",
        "waits",
        "read_",
        "written",
        "sent",
        "got",
        "get",
        "gets",
        "had",
        "has",
        "have",
        "done",
        "does",
        "do",
        "did",
        "can",
        "may",
        "must",
        "what",
        "which",
        "who",
        "how",
        "why",
        "it",
        "its",
        "they",
        "them",
        "this",
        "that",
        "these",
        "those",
        "remembered",
        "remembers",
        "forgotten",
        "forget",
        "chosen",
        "chooses",
        "choose",
        "picked",
        "picks",
        "meant",
        "means",
        "mean",
        "brought",
        "bring",
        "carried",
        "carries",
        "carry",
        "joined",
        "joins",
        "split",
        "apart",
        "aside",
        "away",
        "back",
        "on",
        "off",
        "out",
        "in",
        "up",
        "down",
        "to",
        "of",
        "at",
        "by",
        "for",
        "from",
        "with",
    ]
)
# nouns of the field that stand in the list: they count only next to other fillers
NOUNS = set(
    [
        "piece",
        "pieces",
        "starts",
        "ends",
        "state",
        "states",
        "start",
        "end",
        "step",
        "add",
        "read",
        "names",
        "name",
        "part",
        "follower",
        "mean",
        "fit",
        "driven",
    ]
)
CLAUSE = re.compile(
    r"(What|Is|Are|Has|Have|Does|Do|Did|How|Where|Which|Whether|When|That|Those|Can|May|Of|By|With|"
    r"To|Under|From|All that)\b"
)
LAYOUT_TOKENS = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


@dataclass(frozen=True)
class SourceFile:
    """A module of the package, by its path below it."""

    path: str
    text: str
    tree: ast.Module


def source_files() -> list[SourceFile]:
    """Return all modules that can be parsed; templates of written programs cannot."""
    files = []
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        try:
            tree = ast.parse(text)
        except SyntaxError:
            continue
        files.append(SourceFile(path.relative_to(SOURCE).as_posix(), text, tree))
    return files


def words_of(name: str) -> list[str]:
    """Return the words of a name in snake_case or CamelCase, in lower case."""
    snake = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name.strip("_"))
    return [word for word in re.split(r"[_\d]+", snake.lower()) if word]


def is_bare(name: str) -> bool:
    """Return True if all words of a name are fillers."""
    words = words_of(name)
    lone_noun = len(words) == 1 and words[0] in NOUNS
    return bool(words) and all(word in FILLERS for word in words) and not lone_noun


def definitions(files: list[SourceFile]) -> Iterator[tuple[str, str, str, int]]:
    """Yield kind, name, file and line of modules, classes, functions and methods."""
    for file in files:
        path = Path(file.path)
        if path.name != "__init__.py":
            yield "module", path.stem, file.path, 1
        for kind, name, line in _definitions_inside(file.tree, "function"):
            yield kind, name, file.path, line


def _definitions_inside(node: ast.AST, kind: str) -> Iterator[tuple[str, str, int]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield "class", child.name, child.lineno
            yield from _definitions_inside(child, "method")
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            if not child.name.startswith("__"):
                yield kind, child.name, child.lineno
            yield from _definitions_inside(child, "function")
        elif isinstance(child, ast.stmt):
            yield from _definitions_inside(child, kind)


def local_names(files: list[SourceFile]) -> Iterator[tuple[str, int, str, str]]:
    """Yield file, line of its function, dotted function and name of arguments and variables."""
    for file in files:
        for line, function, name in _locals_inside(file.tree, ""):
            yield file.path, line, function, name


def _locals_inside(node: ast.AST, prefix: str) -> Iterator[tuple[int, str, str]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            dotted = f"{prefix}{child.name}"
            for name in sorted(_bound_names(child)):
                if len(name.strip("_")) > 1:
                    yield child.lineno, dotted, name
            yield from _locals_inside(child, f"{dotted}.")
        elif isinstance(child, ast.ClassDef):
            yield from _locals_inside(child, f"{prefix}{child.name}.")
        else:
            yield from _locals_inside(child, prefix)


def _bound_names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    a = function.args
    arguments = [*a.posonlyargs, *a.args, *a.kwonlyargs, *(x for x in (a.vararg, a.kwarg) if x)]
    names = {x.arg for x in arguments} - {"self", "cls"}
    nested = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
    stack: list[ast.AST] = list(function.body)
    while stack:
        node = stack.pop()
        if isinstance(node, nested):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        stack.extend(ast.iter_child_nodes(node))
    return names


def first_lines_of_docstrings(files: list[SourceFile]) -> Iterator[tuple[str, int, str]]:
    """Yield file, line and first line of the docstrings of classes and functions."""
    documented = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    for file in files:
        for node in ast.walk(file.tree):
            if isinstance(node, documented) and (text := ast.get_docstring(node, clean=False)):
                yield file.path, node.lineno, text.strip().splitlines()[0]


def tokens_on_a_line(files: list[SourceFile]) -> float:
    """Return the mean number of tokens on a line of code, without comments and docstrings."""
    tokens = lines = 0
    for file in files:
        lines_of_code = set()
        for token in tokenize.generate_tokens(io.StringIO(file.text).readline):
            is_docstring = token.type == tokenize.STRING and token.string.endswith('"""')
            if token.type not in LAYOUT_TOKENS and not is_docstring:
                tokens += 1
                lines_of_code.add(token.start[0])
        lines += len(lines_of_code)
    return tokens / max(1, lines)


def any_count(files: list[SourceFile], room: str) -> int:
    """Return how often `Any` stands in the code of a room, imports apart."""
    return sum(
        isinstance(node, ast.Name) and node.id == "Any"
        for file in files
        if file.path.startswith(f"{room}/")
        for node in ast.walk(file.tree)
    )


def measure(files: list[SourceFile]) -> dict[str, float]:
    """Return all figures that have a ceiling."""
    found = list(definitions(files))
    homes: dict[tuple[str, str], set[str]] = collections.defaultdict(set)
    for kind, name, path, _ in found:
        homes[kind, name].add(path)
    repeated = collections.Counter(kind for (kind, _), paths in homes.items() if len(paths) > 1)
    methods = [name for kind, name, *_ in found if kind == "method"]
    variables = [name for *_, name in local_names(files)]
    texts = [text for *_, text in first_lines_of_docstrings(files)]

    def fraction(selected: int, total: int, of: float) -> float:
        return of * selected / max(1, total)

    return {
        "bare definitions per 1,000": fraction(
            sum(is_bare(name) for _, name, *_ in found), len(found), 1000
        ),
        "bare arguments and variables per 1,000": fraction(
            sum(map(is_bare, variables)), len(variables), 1000
        ),
        "class names in several files": repeated["class"],
        "function names in several files": repeated["function"],
        "methods of one word, %": fraction(
            sum(len(words_of(name)) == 1 for name in methods), len(methods), 100
        ),
        "docstrings that begin with a clause, %": fraction(
            sum(CLAUSE.match(text) is not None for text in texts), len(texts), 100
        ),
        "tokens on a line": tokens_on_a_line(files),
        "lines with fmt: skip": sum(file.text.count("# fmt: skip") for file in files),
        "Any in simulation": any_count(files, "simulation"),
    }


def draw_names(files: list[SourceFile], count: int, seed: int) -> Iterator[str]:
    """Yield names drawn at random: a quarter classes, half functions and methods, a quarter modules."""
    pools: dict[str, set[tuple[str, str, int]]] = collections.defaultdict(set)
    for kind, name, path, line in definitions(files):
        pools["function" if kind == "method" else kind].add((name, path, line))
    draw = random.Random(seed)
    for kind, part in (("class", 4), ("function", 2), ("module", 4)):
        pool = sorted(pools[kind])
        for name, path, line in draw.sample(pool, min(count // part, len(pool))):
            yield f"{kind:9}{name:36}{path}:{line}"


def print_bare_definitions(files: list[SourceFile]) -> None:
    for path, line, text in first_lines_of_docstrings(files):
        if CLAUSE.match(text):
            print(f"{path}:{line}: {text}")
    for kind, name, path, line in definitions(files):
        if is_bare(name):
            print(f"{path}:{line}: {kind} {name}")


def print_bare_locals(files: list[SourceFile]) -> None:
    for path, line, function, name in local_names(files):
        if is_bare(name):
            print(f"{path}:{line}\t{function}\t{name}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the names of the source.")
    parser.add_argument("--list", action="store_true", help="bare definitions, clauses")
    parser.add_argument("--list-locals", action="store_true", help="bare arguments, variables")
    parser.add_argument("--draw", nargs=2, type=int, metavar=("COUNT", "SEED"))
    args = parser.parse_args()
    files = source_files()
    if args.draw:
        print(*draw_names(files, *args.draw), sep="\n")
    elif args.list:
        print_bare_definitions(files)
    elif args.list_locals:
        print_bare_locals(files)
    if args.draw or args.list or args.list_locals:
        return 0
    figures = measure(files)
    for key, value in figures.items():
        mark = (
            "above the ceiling: see python -m tests.names --list" if value > CEILINGS[key] else ""
        )
        print(f"{key:42}{value:8.1f}  (at most {CEILINGS[key]}) {mark}".rstrip())
    return int(any(value > CEILINGS[key] for key, value in figures.items()))


if __name__ == "__main__":
    sys.exit(main())
