"""The page of the command line, from its parser: `python -m website.command_line` writes
docs/command_line.md."""

from __future__ import annotations

from argparse import Action, ArgumentParser, _SubParsersAction
from collections import Counter

from bellcrank.cli.main import COMMANDS, GROUPS, make_parser
from website.shown import DOCS

PAGE = DOCS / "command_line.md"
SHARED = 4  # commands with the same argument, from which on it is explained once
HEAD = """# Command line

`bellcrank COMMAND --help` prints the options of a command. \
This page lists the options of all commands.
[Exit codes](running.md#exit-codes-environment-and-cache) show how a command ended.

- Names and options come in any order. You may shorten an option while it stays unambiguous.
- Commands that take longer than a second show their progress on a terminal.
"""
TABLE = "| argument | meaning |\n|---|---|"


def page() -> str:
    """All commands in their groups, each with an example and its arguments; what several share
    stands once, before."""
    rows = {name: _rows(_parser_of(name)) for name in COMMANDS}
    shared = [
        row
        for row, n in Counter(row for found in rows.values() for row in found).items()
        if n >= SHARED
    ]
    parts = [
        HEAD,
        _overview(),
        "## Arguments of several commands\n",
        TABLE,
        *map(_line, shared),
        "",
    ]
    for title, group in GROUPS.items():
        parts.append(f"## {title}\n")
        for name, (summary, example) in group.items():
            own = [_line(row) for row in rows[name] if row not in shared]
            parts += [f"### {name}\n", summary, f"\n```text\nbellcrank {name} {example}\n```\n"]
            parts += [TABLE, *own, ""] if own else []
            also = [
                f"`{argument.split(' ')[0]}`"
                for argument, meaning in rows[name]
                if (argument, meaning) in shared
            ]
            parts += [f"{'Also' if own else 'Arguments'}: {', '.join(also)}.\n"] if also else []
    return "\n".join(parts)


def _overview() -> str:
    lines = ["| group | commands |", "|---|---|"]
    lines += [
        f"| {title} | {', '.join(f'[{name}](#{name})' for name in group)} |"
        for title, group in GROUPS.items()
    ]
    return "\n".join(lines) + "\n"


def _parser_of(name: str) -> ArgumentParser:
    (commands,) = (a for a in make_parser(name)._actions if isinstance(a, _SubParsersAction))
    found: ArgumentParser = commands.choices[name]
    return found


def _rows(parser: ArgumentParser) -> list[tuple[str, str]]:
    """Every argument as it is typed, and what it means."""
    formatter = parser._get_formatter()
    listed = (
        a for group in parser._action_groups for a in group._group_actions if a.dest != "help"
    )
    return [(_typed(a), _escaped(formatter._expand_help(a))) for a in listed]


def _typed(action: Action) -> str:
    """`--step S`, `MODEL`, `--fmi 2 or 3`"""
    value = action.metavar or " or ".join(map(str, action.choices or ())) or action.dest
    value = " ".join(value) if isinstance(value, tuple) else value
    value = "" if action.nargs == 0 else f"[{value}]" if action.nargs in ("?", "*") else value
    return " ".join(filter(None, [", ".join(action.option_strings), value]))


def _escaped(text: str) -> str:
    for character, escaped in (("|", r"\|"), ("*", r"\*"), ("[", r"\["), ("<", "&lt;")):
        text = text.replace(character, escaped)
    return text


def _line(row: tuple[str, str]) -> str:
    return f"| `{row[0]}` | {row[1]} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
