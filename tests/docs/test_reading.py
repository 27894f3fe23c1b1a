"""Pages can be read: sentences of 20 words on average at most, no paragraph above 120 (`python -m
website.reading`)."""

import pytest

from website.reading import ROOT, pages, paragraphs, reading


@pytest.mark.parametrize("path", pages(), ids=lambda p: p.relative_to(ROOT).as_posix())
def test_page_can_be_read(path):
    found = reading(path.read_text(encoding="utf-8"))
    assert found.good, (
        f"mean sentence {found.mean:.1f}, longest paragraph {found.longest} words: "
        f"{found.text[:200]}"
    )


def test_what_is_counted():
    text = (
        "# Head\n\nOne two `a b c` four. Five [six](x.md) 7.5.\n\n```python\nx y z\n```\n\n| a "
        "| b |\n\n- item one\n- item two three\n"
    )
    assert paragraphs(text) == ["One two code four. Five six 7.5.", "item one", "item two three"]
    found = reading(text)
    assert found.sentences == (4, 3, 2, 3) and found.longest == 7 and found.good
    assert not reading("word " * 21 + ".").good and not reading("A b c. " * 41).good
