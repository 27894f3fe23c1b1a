"""Templates: every place is filled once, with what was given as it stands."""

import zlib

import pytest

from bellcrank.core.errors import InternalError
from bellcrank.core.files.embed import minify_script, pack_text
from bellcrank.core.files.template import fill_template, template_text


def test_pieces_are_not_searched_again():
    assert (
        fill_template("@A@ and @B@", {"A": "@B@", "B": "me@example.org"})
        == "@B@ and me@example.org"
    )


def test_an_address_is_no_place():
    assert fill_template("a@b.org, @param, 5@6", {}) == "a@b.org, @param, 5@6"


@pytest.mark.parametrize(
    ("pieces", "message"),
    [({}, "nothing fills @A@"), ({"A": "", "B": ""}, "there is no place for @B@")],
)
def test_places_and_pieces_must_meet(pieces, message):
    with pytest.raises(InternalError, match=message):
        fill_template("one @A@", pieces)


def test_what_is_common_may_be_left_over():
    assert fill_template("one @A@", {}, {"A": "1", "B": "2"}) == "one 1"


def test_a_place_on_an_indented_line_takes_lines():
    text = "{\n    @A@\n    @B@\n}\n"
    assert fill_template(text, {"A": "one\n  two\n", "B": ""}) == "{\n    one\n      two\n}\n"


@pytest.mark.parametrize(
    ("loops", "found"), [("yes", "a\n  closed\nb\n"), ("", "a\n  open 2\nb\n")]
)
def test_lines_are_chosen(loops, found):
    text = "a\n@IF LOOPS@\n  closed\n@ELSE@\n  open @N@\n@END@\nb\n"
    assert fill_template(text, {"LOOPS": loops, "N": "2"}) == found


def test_a_choice_needs_its_piece():
    with pytest.raises(InternalError, match="nothing fills @LOOPS@"):
        fill_template("@IF LOOPS@\nclosed\n@END@\n", {})


def test_files_are_found_in_their_package():
    assert "#include <stdint.h>" in template_text("bellcrank.codegen/c/runtime", "head.c")


def test_scripts_are_short_and_say_the_same():
    script = (
        'const f = (a, b) => {\n  return a - -b + "x = 1; ";  // why\n};\n// more\nlet t = '
        "`${f} = ${ f }`\nf(1)\n"
    )
    assert (
        minify_script(script)
        == 'const f=(a,b)=>{return a- -b+"x = 1; ";};let t=`${f} = ${ f }`\nf(1)\n'
    )


@pytest.mark.parametrize("size", [0, 1, 5, 26, 997])
def test_packed_bytes_come_back(size):
    """Two characters for 13 bits, as many as the bytes need; none of them means anything in a
    page."""
    content = bytes((i * i * 37 + i // 7) % 256 for i in range(size))
    text, length = pack_text([content, content[:3]])
    assert not {*text} & {*'"&<'}
    digits = [('"&<'["|}~".index(c)] if c in "|}~" else c) for c in text]
    values = [
        91 * (ord(a) - 33) + ord(b) - 33 for a, b in zip(digits[::2], digits[1::2], strict=True)
    ]
    bits = "".join(f"{x:013b}" for x in values)
    small = bytes(int(bits[8 * i : 8 * i + 8], 2) for i in range(length))
    assert zlib.decompress(small, -zlib.MAX_WBITS) == content + content[:3]
