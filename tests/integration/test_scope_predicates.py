from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.db import DatabaseError, connection, transaction

from knowledge.errors import KnowledgeError
from knowledge.retrieval.rendering import _live_rows
from knowledge.retrieval.types import Ranked
from tests.marked import CLOSED, CLOSED_ITEMS, NEAR, OPEN_ITEMS, OTHER, Marked, body_of, marked
from tests.predicates import predicates, without

pytestmark = pytest.mark.django_db

# Who may hear what lies in none of these; a condition that is not here has to be noticed.
WHAT_IS_LOOKED_FOR = {
    "l.tokens && %(generating)s::bigint[]",
    "a.token = ANY(l.tokens)",
    "tokens && %(whole)s::bigint[]",
    "s0 > 0",
    "true",
}
WHICH_WAY_IS_CHEAPER = {
    "(SELECT rows FROM size) BETWEEN 1 AND %(few)s::bigint",
    "(SELECT rows FROM size) > %(few)s::bigint",
}
# They join what was found with more of the same row, for ranking.
WHICH_PASSAGE = {
    "position >= 0",
    "position < 0",
    "s.position >= 0",
    "s.asset_id IN (SELECT asset_id FROM found WHERE position < 0)",
    "(s.asset_id IN (SELECT asset_id FROM found)) IS TRUE",
    "((s.asset_id, s.position) IN (SELECT asset_id, position FROM picked)) IS TRUE",
    "((p.asset_id, p.position) IN (SELECT asset_id, position FROM near)) IS NOT TRUE",
    "x.id = p.asset_id",
    "l.asset_id = p.asset_id",
    "o.id = %(organization)s",
}
NOT_SCOPE = WHAT_IS_LOOKED_FOR | WHICH_WAY_IS_CHEAPER | WHICH_PASSAGE
SCOPE_TABLES = re.compile(
    r"scopes_\w+|tenants_contactsegment|knowledge_(?:item|instruction|instructiondirectory|lexicalentry|vector)\b"
)


@pytest.fixture
def world():
    return marked()


def _kept_back(name: str) -> Callable[[Marked], None]:
    def check(world):
        heard = world.hear(name)
        assert name not in heard.found | heard.told

    check.__name__ = f"nobody_unknown_hears_{name}"
    return check


def _told(name: str, **who) -> Callable[[Marked], None]:
    def check(world):
        assert name in world.hear(name, **who).told

    check.__name__ = (
        f"{name}_is_told_to_{'_'.join(str(value) for value in who.values()) or 'anybody'}"
    )
    return check


def _not_told(name: str, **who) -> Callable[[Marked], None]:
    def check(world):
        heard = world.hear(name, **who)
        assert name not in heard.found | heard.told

    check.__name__ = f"{name}_is_kept_from_{'_'.join(str(value) for value in who.values())}"
    return check


def an_agent_whose_picks_have_all_vanished_is_vacant(world):
    assert world.is_vacant("vanished") == (True, True)


def an_agent_whose_folders_hold_nothing_is_vacant(world):
    assert world.is_vacant("hollow") == (True, True)


def an_agent_whose_pick_was_deleted_is_vacant(world):
    assert world.is_vacant("buried") == (True, False)


def an_agent_whose_picks_are_another_organizations_is_vacant(world):
    assert world.is_vacant("stray") == (True, True)


def an_agent_with_live_picks_is_not_vacant(world):
    assert world.is_vacant("narrow") == (False, False)


def a_row_of_another_organization_is_not_found(world):
    for word in ("foreign", "abroad"):
        assert world.hear(word).found == set()


def words_of_another_organization_find_nothing(world):
    heard = world.hear("foreignword")
    assert heard.found == set()


def words_of_before_a_change_find_nothing(world):
    assert world.hear("staleword").found == set()


def only_vectors_of_this_organization_space_and_generation_find_something(world):
    assert world.hear("nothingelse", vector=NEAR).found == {"itembegun", "itemchanged"}


def what_is_told_is_the_passage_that_was_found(world):
    for name in ("itemplain", "itemlong", "itemtwice"):
        assert set(world.hear(name).contents) == {body_of(name)}


def one_row_is_read_for_each_that_was_found(world):
    row = next(pk for pk, name in world.names.items() if name == "itemplain")
    chosen = Ranked("knowledge", row, 0, "knowledge", "", "", 1.0, None, 0.0, (), ())
    with world.acme.context():
        assert len(_live_rows("knowledge", [chosen], world.allowlist())) == 1


def a_passage_of_before_a_change_is_not_told(world):
    assert set(world.hear("nothingelse", vector=OTHER).contents) == {body_of("itemchanged")}


KILLERS = [
    *(_kept_back(f"item{name}") for name in CLOSED | CLOSED_ITEMS),
    *(_kept_back(f"guide{name}") for name in CLOSED),
    *(_kept_back(name) for name in ("itemforgold", "guideforgold", "guidedraft", "itemfornarrow")),
    *(_told(f"item{name}") for name in OPEN_ITEMS),
    *(_told(f"{kind}forgold", contact="golden") for kind in ("item", "guide")),
    *(_not_told(f"{kind}forgold", contact="silver") for kind in ("item", "guide")),
    *(_told(f"{kind}forchat", channel="chat") for kind in ("item", "guide")),
    *(_told(f"{kind}foremirates", country="AE") for kind in ("item", "guide")),
    *(_told(name, agent="narrow") for name in
      ("itemfornarrow", "iteminside", "itembelow", "itempicked", "guideinside", "guidebelow", "guidepicked")),
    *(_not_told(name, agent="narrow") for name in
      ("itembeside", "itemafter", "itemplain", "guidebeside", "guideplain", "guidesmuggled")),
    *(_not_told(name, agent=agent) for agent in ("missing", "emptied", "stray", "loose")
      for name in ("itemplain", "guideplain")),
    _not_told("guidestrayed", agent="stray"),
    _not_told("foreign", agent="stray"),
    a_row_of_another_organization_is_not_found,
    an_agent_whose_picks_have_all_vanished_is_vacant,
    an_agent_whose_folders_hold_nothing_is_vacant,
    an_agent_whose_pick_was_deleted_is_vacant,
    an_agent_whose_picks_are_another_organizations_is_vacant,
    an_agent_with_live_picks_is_not_vacant,
    words_of_another_organization_find_nothing,
    words_of_before_a_change_find_nothing,
    only_vectors_of_this_organization_space_and_generation_find_something,
    what_is_told_is_the_passage_that_was_found,
    a_passage_of_before_a_change_is_not_told,
    one_row_is_read_for_each_that_was_found,
]  # fmt: skip


def failing(world: Marked) -> list[str]:
    return [name for name in map(_name_if_it_fails(world), KILLERS) if name]


def _name_if_it_fails(world):
    def name(check):
        try:
            with transaction.atomic():
                check(world)
        except (AssertionError, DatabaseError, KnowledgeError):
            return check.__name__
        return ""

    return name


def first_to_fail(world: Marked) -> str:
    return next(filter(None, map(_name_if_it_fails(world), KILLERS)), "")


def statements(world: Marked) -> dict[str, None]:
    """Return the text of every statement that decides who may hear what."""
    seen: dict[str, None] = {}

    def note(execute, sql, params, many, context):
        if sql.lstrip().startswith(("SELECT", "WITH")) and SCOPE_TABLES.search(sql):
            seen.setdefault(sql)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        for agent in ("wide", "narrow"):
            world.hear("itemplain", vector=NEAR, agent=agent, contact="golden")
            world.hear("guideplain", agent=agent)
    return seen


def mutants(world: Marked) -> list[str]:
    found = (one for sql in statements(world) for one in predicates(sql))
    return [one for one in dict.fromkeys(found) if " ".join(one.split()) not in NOT_SCOPE]


def killer(world: Marked, predicate: str) -> str:
    def mutate(execute, sql, params, many, context):
        return execute(without(sql, predicate) if predicate in sql else sql, params, many, context)

    with connection.execute_wrapper(mutate):
        return first_to_fail(world)


def test_every_row_is_heard_by_whom_it_is_for_and_by_nobody_else(world):
    assert failing(world) == []


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_every_condition_of_the_scope_that_is_removed_fails_a_test(world, capsys):
    killed = {predicate: killer(world, predicate) for predicate in mutants(world)}
    with capsys.disabled():
        print()  # noqa: T201
        for predicate, name in killed.items():
            print(f"{' '.join(predicate.split())[:110]:<112}{name or 'SURVIVES'}")  # noqa: T201
        percent = 100 * sum(map(bool, killed.values())) / len(killed)
        print(f"{len(killed)} conditions, {percent:.0f} % noticed")  # noqa: T201
    assert [predicate for predicate, name in killed.items() if not name] == []
