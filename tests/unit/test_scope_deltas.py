from __future__ import annotations

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.errors import CursorRefused
from knowledge.places import Cursor, read_cursor
from scopes.errors import DeltaRefused
from scopes.selecting import Picks
from scopes.selector.deltas import Box, Delta, folded, keys_of, picks_of, read_boxes, read_delta

keys = st.sampled_from([f"c:help/{name}" for name in "abcdefgh"])
stored = st.frozensets(keys)
presses = st.lists(st.tuples(keys, st.booleans()), max_size=12)


def pressed(delta, saved, ticks):
    for key, is_ticked in ticks:
        act = delta.ticked if is_ticked else delta.unticked
        delta = act(key, saved=key in saved)
    return delta


@given(saved=stored, ticks=presses, clear=st.booleans())
def test_a_key_is_picked_exactly_when_it_was_ticked_last(saved, ticks, clear):
    delta = pressed(Delta(clear=clear), saved, ticks)
    last = dict(ticks)
    start = frozenset() if clear else saved
    expected = {key for key in start | set(last) if last.get(key, key in start)}
    assert delta.applied(saved) == expected
    assert delta.count(len(saved)) == len(expected)
    assert {key for key in saved | set(last) if delta.picks(key, saved=key in saved)} == expected


@given(saved=stored, theirs=stored, ticks=presses)
def test_changes_applied_to_another_selection_keep_what_that_one_changed(saved, theirs, ticks):
    delta = pressed(Delta(), saved, ticks)
    merged = delta.applied(theirs)
    assert delta.add <= merged
    assert not delta.remove & merged
    assert merged - delta.add == theirs - delta.remove - delta.add


@given(saved=stored, ticks=presses)
def test_what_is_read_is_what_was_written(saved, ticks):
    delta = pressed(Delta(), saved, ticks)
    assert read_delta(delta.text()) == delta


@given(saved=stored, before=presses, after=st.frozensets(keys))
def test_boxes_sent_without_a_script_fold_into_the_same_selection(saved, before, after):
    delta = pressed(Delta(), saved, before)
    shown = [
        Box(key, key in saved, delta.picks(key, saved=key in saved))
        for key in sorted(saved | {key for key, _ in before} | after)
    ]
    assert folded(delta, shown, after).applied(saved) == after


@pytest.mark.parametrize("sent", ["[]", "{", '{"add": 1}', '{"add": [1]}', '{"clear": 0}', "null"])
def test_what_is_no_delta_is_refused(sent):
    with pytest.raises(DeltaRefused):
        read_delta(sent)


@pytest.mark.parametrize("sent", ["{", "[1]", '[["a"]]', "3"])
def test_what_are_no_boxes_is_refused(sent):
    with pytest.raises(DeltaRefused):
        read_boxes(sent)


def test_keys_name_picks_of_their_category():
    row, folder = uuid.uuid4(), "help/a:b"
    picks = Picks(frozenset({row}), frozenset({folder}))
    assert picks_of(keys_of(picks), "knowledge") == picks
    with pytest.raises(DeltaRefused) as refusal:
        picks_of(["c:help/a", "x:1", "r:no"], "instruction")
    assert refusal.value.data["refused"] == ["c:help/a", "r:no", "x:1"]


@given(
    backward=st.booleans(),
    bound=st.none()
    | st.tuples(st.just("c"), st.text(st.characters(exclude_characters="\0", codec="utf-8")))
    | st.tuples(st.just("r"), st.text(st.characters(exclude_characters="\0", codec="utf-8")), st.uuids().map(str)),
    number=st.integers(-100, 10**6),
)  # fmt: skip
def test_a_cursor_is_read_as_it_was_written(backward, bound, number):
    cursor = Cursor(backward, bound, number)
    assert read_cursor(cursor.text()) == cursor


@pytest.mark.parametrize("sent", ["!", "bm8", "WzEsIFsieCJdLCAxXQ", "W10"])
def test_what_is_no_cursor_is_refused(sent):
    with pytest.raises(CursorRefused):
        read_cursor(sent)
