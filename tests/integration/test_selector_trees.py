"""Virtual folders, directories and their pages, as the selector reads them."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knowledge.models import Item
from knowledge.places import Cursor, page_of, read_cursor
from knowledge.tree import KnowledgeTree
from scopes.selector.instruction_tree import InstructionTree
from tests.world import tenant

pytestmark = pytest.mark.django_db


def at(tree, key):
    place = tree.place(key)
    assert place is not None
    return place


def names(tree, place_key, cursor=""):
    page = page_of(tree, at(tree, place_key), read_cursor(cursor))
    return [entry.name for entry in page.entries], page


def everything(tree, place_key):
    found, cursor = [], ""
    while True:
        page_names, page = names(tree, place_key, cursor)
        found += page_names
        if not page.next:
            return found, page
        cursor = page.next


def backwards(tree, place_key):
    found, page = names(tree, place_key, Cursor(backward=True).text())
    while page.previous:
        before, page = names(tree, place_key, page.previous)
        # The first page is always a full one, so it may meet rows of the second again.
        found = [name for name in before if name not in found] + found
    return found


def fill(acme, folder_keys):
    with acme.context():
        source = acme.source()
        Item.objects.bulk_create(
            Item(
                organization=acme.organization, source=source, external_id=f"{n}", title=f"Item {n}",
                body="x", folder_key=key,
            )
            for n, key in enumerate(folder_keys)
        )  # fmt: skip


def test_names_that_sort_around_the_separator_are_each_told_once():
    acme = tenant("acme")
    fill(acme, ["help/a", "help/a b", "help/a-b", "help/a/x", "help/a/y/z", "help/a0", "help/b/c"])
    with acme.context():
        tree = KnowledgeTree(acme.organization.pk)
        assert sorted(everything(tree, "help")[0]) == ["a", "a b", "a-b", "a0", "b"]
        assert sorted(names(tree, "help/a")[0]) == ["Item 0", "x", "y"]


segment = st.text(alphabet="ab -/0.é", min_size=1, max_size=4).map(
    lambda text: "/".join(part for part in (p.strip() for p in text.split("/")) if part)
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(paths=st.lists(segment, min_size=1, max_size=90, unique=True))
def test_paging_through_folders_meets_each_once_in_both_directions(paths):
    paths = [p for p in paths if p and not {".", ".."} & set(p.split("/"))]
    acme = tenant(f"acme-{uuid.uuid4()}")
    fill(acme, [f"help/{path}" for path in paths])
    with acme.context():
        tree = KnowledgeTree(acme.organization.pk)
        expected = sorted({path.split("/")[0] for path in paths})
        forward, page = everything(tree, "help")
        assert sorted(forward) == expected
        assert page.next == ""
        assert backwards(tree, "help") == forward


def test_a_thousand_items_are_paged_in_the_order_of_their_titles():
    acme = tenant("acme")
    fill(acme, ["help/big"] * 130 + ["help/big/below"])
    with acme.context():
        tree = KnowledgeTree(acme.organization.pk)
        found, _page = everything(tree, "help/big")
        assert found[0] == "below"
        assert found[1:] == sorted(found[1:])
        assert len(found) == 131
        assert backwards(tree, "help/big") == found


def test_deleted_items_and_what_they_alone_kept_are_not_shown():
    acme = tenant("acme")
    gone = acme.item("Gone", folder="old")
    acme.item("Here", folder="new")
    acme.change_item(gone, deleted_at="2026-01-01T00:00Z")
    with acme.context():
        assert names(KnowledgeTree(acme.organization.pk), "help")[0] == ["new"]


def test_a_folder_of_no_source_and_of_another_organization_is_not_there():
    acme, globex = tenant("acme"), tenant("globex")
    globex.source("secret")
    acme.source()
    with acme.context():
        tree = KnowledgeTree(acme.organization.pk)
        assert tree.place("secret") is None
        assert tree.place("help/../help") is None
        assert tree.place("help//x") is None


def test_directories_show_what_they_hold_at_every_depth():
    acme = tenant("acme")
    acme.instruction("One", directory="a/b/c")
    acme.instruction("Two", directory="a/b")
    acme.instruction("Top")
    with acme.context():
        tree = InstructionTree(acme.organization.pk)
        page = page_of(tree, at(tree, ""), Cursor())
        tree.fill(page.entries)
        assert [(e.name, e.holds) for e in page.entries] == [("a", 2), ("Top", 0)]
        place = at(tree, page.entries[0].key[2:])
        assert [step.name for step in place.steps] == ["a"]
