"""docs/kane.md: every result it prints is the program's."""

import doctest
import re
from pathlib import Path

from bellcrank.kane.autolev import AutolevSession, ScriptFiles

PAGE = Path(__file__).parents[2] / "docs" / "kane.md"


def test_the_python_of_the_tutorial_prints_what_it_says():
    text = re.sub(r"^```\w*$", "", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False)
    tests = parser.get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    report: list[str] = []
    runner.run(tests, out=report.append)
    assert runner.failures == 0, "".join(report)
    assert runner.tries > 50


def test_the_session_of_the_tutorial_answers_as_it_says(tmp_path):
    blocks = re.findall(r"```autolev\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert blocks
    for block in blocks:
        session = AutolevSession(ScriptFiles(tmp_path))
        for line in block.splitlines():
            if not line.startswith("->"):
                session.run_line(line.partition(") ")[2])
        assert "\n".join(session.listing()) == block.strip("\n")
