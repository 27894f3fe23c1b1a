"""Lisp text to data: what is read, where it stands, and what is rejected. Nothing is executed."""

import pytest

import bellcrank as bc
from bellcrank.formats.decks.reader import (
    ArrayDatum,
    FormulaStringDatum,
    KeywordDatum,
    ListDatum,
    MatrixDatum,
    NumberDatum,
    StringDatum,
    SymbolDatum,
    UnitVectorDatum,
    read_deck,
)


def only(text):
    (form,) = read_deck(text)
    return form


def test_all_kinds_of_data_in_one_form():
    form = only(
        '(add-body B :name "a \\"b\\"" !"x + 1" [nrb2] #(1 -L 0) #2a((a 0 0) (0 b 0) (0 0 '
        "c)) (t nil) 3)"
    )
    kinds = [type(d) for d in form.items]
    assert kinds == [
        SymbolDatum,
        SymbolDatum,
        KeywordDatum,
        StringDatum,
        FormulaStringDatum,
        UnitVectorDatum,
        ArrayDatum,
        MatrixDatum,
        ListDatum,
        NumberDatum,
    ]
    assert form.items[1].name == "b" and form.items[2].name == ":name"
    assert form.items[3].text == 'a "b"' and form.items[4].text == "x + 1"
    assert (form.items[5].body, form.items[5].axis) == ("nrb", 2)
    assert [len(row.items) for row in form.items[7].items] == [3, 3, 3]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-16", -16),
        ("5.", 5),
        (".016", 0.016),
        ("-.5", -0.5),
        ("1e3", 1000.0),
        ("2.85D-5", 2.85e-5),
        ("1/4", 0.25),
    ],
)
def test_numbers(text, value):
    number = only(f"({text})").items[0]
    assert number.value == value and isinstance(number.value, int) == isinstance(value, int)


@pytest.mark.parametrize(
    "text", ["b*", "l1", "1+", "-", "a-b", "*multibody-system-name*", "e3", "d0"]
)
def test_words_that_are_no_numbers_are_symbols(text):
    assert only(f"({text})").items[0].name == text


def test_comments_and_quotes_are_skipped():
    assert (
        read_deck("; all\n#| a (block #| in a |# block |# ('a ; rest )\n)")[0].items[0].name == "a"
    )


def test_every_piece_knows_its_place():
    forms = read_deck('(reset)\n  (add-body b\n     :mass !"m + 1")\n')
    second = forms[1]
    assert [second.source.line_and_column(d.offset) for d in second.items] == [
        (2, 4),
        (2, 13),
        (3, 6),
        (3, 14),
    ]


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        (
            "(reset)\n(add-body b\n(mks)\n",
            2,
            1,
            "'(' is never closed; the form at line 3 starts inside it",
        ),
        ("(reset))\n", 1, 8, "')' without '('"),
        ("(a)\n b\n", 2, 2, "b stands outside of all forms"),
        ('(a "b)', 1, 4, "never closed"),
        ("(a #| b)", 1, 4, "'#|' is never closed"),
        ("(a !b)", 1, 4, "double quotes"),
        ("(a [b4])", 1, 4, "a unit vector is written [b1]"),
        ("(a #'car)", 1, 4, "after '#'"),
        ("(a `(b ,c))", 1, 4, "nothing is evaluated"),
        ("(a \u041a)", 1, 4, "unexpected character"),
        ("(a 1/0)", 1, 4, "denominator"),
        ("(a 1e999)", 1, 4, "too large"),
        ("(a " + "b" * 300 + ")", 1, 4, "a word may have 200 characters"),
        ("(" * 60 + ")" * 60, 1, 51, "50 deep"),
    ],
)
def test_what_cannot_be_read_is_told_with_line_and_column(text, line, column, words):
    with pytest.raises(bc.ExpressionError) as error:
        read_deck(text, "x.lsp")
    assert str(error.value).startswith(f"x.lsp, line {line}, column {column}: ")
    assert words in str(error.value)


def test_a_deck_has_a_largest_size():
    with pytest.raises(bc.ModelError, match="1000000 characters"):
        read_deck(" " * 1_000_001)


def test_read_time_evaluation_is_refused(tmp_path):
    mark = tmp_path / "mark"
    for text in (
        f'(a #.(open "{mark}" :direction :output))',
        f'#.(run-program "touch {mark}")',
        "#+sbcl (a)",
    ):
        with pytest.raises(bc.ModelError):
            read_deck(text)
    assert not mark.exists()
