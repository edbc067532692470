"""Every reading of a text knows where its characters came from."""

import json

from hypothesis import given
from hypothesis import strategies as st

from vdiag.redact.views import joined, views, whole_escapes

PIECES = st.sampled_from(
    ["a", "é", "\x1b[31m", "\x1b[0m", "\u200b", '"', "\\", "\n", "key", " ", "\\u001b[1m", "{", "<"]
)


def taken(text: str, view, start: int, end: int) -> str:
    """Return what of the text a part of a view stands for."""
    return "".join(text[first:last] for first, last in view.origin(start, end))


@given(st.lists(PIECES, max_size=20).map("".join))
def test_colour_and_hidden_characters_are_left_out(text: str) -> None:
    """Without them the text reads on, and each character is found where it stands."""
    (view,) = views(text + " end")
    raw = text + " end"

    assert "\x1b[31m" not in view.text
    assert "\u200b" not in view.text
    for at, char in enumerate(view.text):
        assert taken(raw, view, at, at + 1) == char
    assert taken(raw, view, len(view.text) - 4, len(view.text)) == " end"


@given(st.lists(PIECES, max_size=20).map("".join))
def test_strings_of_a_json_record_are_decoded(text: str) -> None:
    """A string with escapes is read decoded; its whole comes from the whole literal."""
    record = json.dumps({"message": text + '"'})
    inner = [view for view in views(record) if not view.is_json or view.text == text + '"']
    literal = record[len('{"message": "') : -len('"}')]
    made = [view for view in inner if taken(record, view, 0, len(view.text)) == literal]

    if "\x1b" not in text and "\u200b" not in text and "\\u001b" not in text:
        assert [view.text for view in made] == [text + '"']


def test_parts_are_joined_over_what_stands_between() -> None:
    """A value over two parts has a range in each, and nothing of what is between them."""
    text = "P hf_Ab\nF Cd x"
    (view,) = joined(text, [(2, 7), (10, 14)])

    assert view.text == "hf_AbCd x"
    assert view.origin(0, 7) == [(2, 7), (10, 12)]


def test_no_half_of_an_escape() -> None:
    r"""A range that begins or ends inside ``\u003c`` or ``\"`` is made smaller."""
    text = '{"a": "x\\u003cjane\\" y"}'
    inside = text.index("u003c")

    assert text[slice(*whole_escapes(text, inside, text.index('\\" y') + 1))] == "jane"
    assert whole_escapes(text, 7, 9) == (7, 8)
