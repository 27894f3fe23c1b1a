"""Public text uses the words of the field: see tests/vocabulary.py."""

from tests.vocabulary import found_in, house_words, prose, public_files


def test_public_text_has_no_house_words():
    found = [line for path in public_files() for line in found_in(path)]
    assert not found, "\n".join(found)


def test_house_words_are_found_where_they_stand():
    text = (
        "# A\n\nThe run goes\non and `is told` nothing.\n\n```\ntold\n```\n\nTwo degrees of "
        "freedom, beyond.\n"
    )
    assert [(n, word) for n, word, _ in house_words(prose(text))] == [
        (3, "goes on"),
        (10, "beyond"),
    ]
