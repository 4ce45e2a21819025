from __future__ import annotations

import io
import sys

import pytest

from tenants.strict_json import DEEPEST, MOST_BYTES, StrictJSONParser, read_object
from tenants.wire_fields import flatten
from voiceapi.errors import BodyTooLarge, InvalidRequest, MalformedBody, MediaTypeRefused


def nested(depth):
    return b'{"a": ' * (depth - 1) + b"{}" + b"}" * (depth - 1)


def test_an_object_is_read():
    assert read_object('{"a": ["ü", 1, null]}'.encode()) == {"a": ["ü", 1, None]}


def test_depth_is_bounded_exactly():
    assert read_object(nested(DEEPEST))
    with pytest.raises(MalformedBody):
        read_object(nested(DEEPEST + 1))


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'{"a":['])
def test_a_nesting_bomb_is_malformed_however_deep_the_stack_already_is(opening):
    def deeper(frames):
        return deeper(frames - 1) if frames else read_object(opening * 30_000)

    for frames in (0, sys.getrecursionlimit() // 2):
        with pytest.raises(MalformedBody):
            deeper(frames)


def test_size_is_bounded_exactly():
    parser = StrictJSONParser()
    fitting = b'{"a": "' + b"x" * (MOST_BYTES - 9) + b'"}'
    assert parser.parse(io.BytesIO(fitting))
    with pytest.raises(BodyTooLarge):
        parser.parse(io.BytesIO(fitting + b" "))


def test_a_client_that_goes_away_is_a_malformed_body():
    class Gone(io.BytesIO):
        def read(self, *_args):
            raise OSError

    with pytest.raises(MalformedBody):
        StrictJSONParser().parse(Gone())


def test_another_charset_is_refused():
    with pytest.raises(MediaTypeRefused):
        StrictJSONParser().parse(io.BytesIO(b"{}"), "application/json; charset=latin-1")


def test_a_field_given_twice_deep_inside_is_refused():
    with pytest.raises(InvalidRequest):
        read_object(b'{"a": {"b": 1, "b": 1}}')


def test_complaints_are_named_by_path():
    detail = {"queries": {1: ["Too long."]}, "turn": {"call": {"x": ["No."]}}, "limit": ["No."]}
    assert flatten(detail) == {
        "queries.1": ["Too long."], "turn.call.x": ["No."], "limit": ["No."],
    }  # fmt: skip


def test_complaints_about_an_object_itself_are_named_by_the_object():
    assert flatten({"turn": {"non_field_errors": ["Must be an object."]}}) == {
        "turn": ["Must be an object."]
    }
    assert flatten({"non_field_errors": ["Must be an object."]}) == {"body": ["Must be an object."]}
