"""The code blocks of documents run as they stand, one after another, in a folder next to the
examples."""

import re
from pathlib import Path
from runpy import run_path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", ["programs.md", "files.md", "many.md", "measured.md"])
def test_code_of_documents_runs(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(
        r"```python\n(.*?)```", (ROOT / "docs" / name).read_text(encoding="utf-8"), re.S
    )
    assert len(blocks) == {"many.md": 1, "programs.md": 4}.get(name, 2)
    for i, block in enumerate(blocks):
        script = (
            tmp_path / f"block_{i}.py"
        )  # from a file, so that the source of functions is at hand
        script.write_text(block, encoding="utf-8")
        run_path(str(script))
