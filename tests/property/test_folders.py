from __future__ import annotations

import unicodedata

from hypothesis import assume, given
from hypothesis import strategies as st

from knowledge.errors import FolderRefused
from knowledge.folders import (
    ancestors,
    folder_key,
    is_within,
    leaf,
    moved,
    parent,
    prefix_range,
    segments,
)

wild = st.text(st.characters(exclude_categories=()), max_size=30)
paths = st.one_of(wild, st.text(st.sampled_from("ab é\u0301/\\.-0"), max_size=20))
names = st.text(st.sampled_from("ab0-.é "), min_size=1, max_size=3)
keys = st.lists(names, max_size=4).map("/".join).filter(lambda path: ".." not in path)


def key_or_nothing(path):
    try:
        return folder_key("s", path)
    except FolderRefused:
        assume(False)


@given(paths)
def test_a_key_is_the_key_of_itself(path):
    key = key_or_nothing(path)
    assert folder_key("s", key.removeprefix("s")) == key


@given(paths)
def test_a_key_is_clean(path):
    key = key_or_nothing(path)
    names = key.split("/")
    assert unicodedata.is_normalized("NFC", key)
    assert all(name == name.strip() and name not in {"", ".", ".."} for name in names)
    assert "\\" not in key


@given(paths)
def test_either_form_of_unicode_gives_one_key(path):
    key = key_or_nothing(path)
    assert key_or_nothing(unicodedata.normalize("NFD", path)) == key


@given(keys, keys)
def test_the_bounds_say_the_same_as_is_within(one, other):
    key, ancestor = key_or_nothing(one), key_or_nothing(other)
    low, high = (bound.encode() for bound in prefix_range(ancestor))
    assert is_within(key, ancestor) == (key == ancestor or low <= key.encode() < high)


@given(keys)
def test_ancestors_are_what_a_folder_lies_within(path):
    key = key_or_nothing(path)
    above = ancestors(key)
    assert all(is_within(key, each) and each != key for each in above)
    assert (above[-1] if above else None) == parent(key)
    assert len(above) == len(segments(key)) - 1
    assert segments(key)[-1] == leaf(key)


@given(keys, keys, keys)
def test_a_move_there_and_back_changes_nothing(inside, old, new):
    source, target = key_or_nothing(old), key_or_nothing(new)
    key = key_or_nothing("/".join([source.removeprefix("s"), inside]))
    assume(is_within(key, source))
    assert moved(moved(key, source, target), target, source) == key
