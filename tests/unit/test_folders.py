from __future__ import annotations

import pytest

from knowledge.errors import FolderRefused
from knowledge.folders import (
    ancestors,
    directory_path,
    folder_key,
    is_within,
    leaf,
    moved,
    parent,
    prefix_range,
    source_slug,
)


@pytest.mark.parametrize(
    "path",
    [
        "Billing/Refunds",
        "/Billing/Refunds/",
        "Billing//Refunds",
        " Billing / Refunds ",
        "./Billing/./Refunds",
        "Billing\\Refunds",
    ],
)
def test_one_folder_has_one_key(path):
    assert folder_key("help", path) == "help/Billing/Refunds"


def test_the_root_of_a_source_is_its_slug():
    assert folder_key("help") == folder_key("help", "/") == folder_key("help", " . ") == "help"


def test_accents_typed_in_two_ways_are_one_folder():
    assert folder_key("help", "Cafe\u0301") == folder_key("help", "Caf\u00e9")


def test_case_is_kept():
    assert folder_key("help", "Billing") != folder_key("help", "billing")


def test_joiners_that_words_need_are_kept():
    assert folder_key("help", "می‌خواهم") == "help/می‌خواهم"


@pytest.mark.parametrize(
    "path",
    [
        "a/../b",
        "..",
        "a\x00b",
        "a\nb",
        "a\u202eb",
        "a\u200bb",
        "\ud800",
        "x" * 256,
        "/".join("a" * 40),
        "/".join(["é" * 200] * 4),
    ],
)
def test_a_path_that_hides_something_or_is_too_long_is_refused(path):
    with pytest.raises(FolderRefused):
        folder_key("help", path)
    with pytest.raises(FolderRefused):
        directory_path(path)


@pytest.mark.parametrize("slug", ["", " ", "a/b", "..", "/"])
def test_a_source_has_exactly_one_name(slug):
    with pytest.raises(FolderRefused):
        folder_key(slug, "Billing")


def test_a_refusal_does_not_repeat_the_path():
    with pytest.raises(FolderRefused) as refusal:
        folder_key("help", "secret\x00name")
    assert "secret" not in str(refusal.value)


def test_a_subtree_ends_at_the_border_of_a_name():
    assert is_within("help/billing", "help/billing")
    assert is_within("help/billing/refunds", "help/billing")
    assert not is_within("help/billing-old", "help/billing")
    assert not is_within("help", "help/billing")


def test_a_folder_knows_what_stands_above_it():
    assert parent("help/a/b") == "help/a"
    assert parent("help") is None
    assert ancestors("help/a/b") == ("help", "help/a")
    assert ancestors("help") == ()
    assert leaf("help/a/b") == "b"
    assert leaf("help") == "help"
    assert source_slug("help/a/b") == "help"


def test_the_bounds_of_a_subtree_exclude_its_neighbours():
    low, high = prefix_range("help/billing")
    assert low <= "help/billing/refunds" < high
    for neighbour in (
        "help/billing",
        "help/billing-old",
        "help/billing0",
        "help/billing.",
        "help/c",
    ):
        assert not low <= neighbour < high


def test_a_moved_folder_takes_what_is_below_it():
    assert moved("help/a/b/c", "help/a", "help/x/y") == "help/x/y/b/c"
    assert moved("help/a", "help/a", "help/x") == "help/x"
    assert moved("help/ab", "help/a", "help/x") == "help/ab"


def test_a_move_never_makes_a_path_too_deep():
    deep = "help/" + "/".join("a" * 20)
    with pytest.raises(FolderRefused):
        moved(deep, "help/a", deep)


def test_an_instruction_directory_follows_the_same_rules():
    assert directory_path(" Calls //Opening ") == "Calls/Opening"
    assert directory_path("") == ""
