from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from knowledge.api.instruction_files import exported, imported
from knowledge.api.keeping import Hand
from knowledge.api.markdown import KEYS, from_markdown, to_markdown
from knowledge.api.names import Names
from knowledge.api.showing import written
from knowledge.text.normalising import clean
from tests.world import AT, BY, tenant

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)
NASTY = st.sampled_from(["---", "\n---\n", "a\n---\nb", "\r\n", "yes", "null", "1e3", "2026-01-31",
                         "\u2028", "\x85", "\ufeff", "#", ": ", "'\"", "- a", "\t", "\x1b"])  # fmt: skip
ANY = st.lists(TEXTS | NASTY, max_size=4).map("".join)


def says(text):
    """Whether there is something in it beside blanks, of which the byte order mark is one."""
    return any(not c.isspace() and c != "\ufeff" for c in text)


SAID = ANY.filter(says)
NAMES = st.none() | st.lists(st.from_regex(r"[a-z0-9_-]{1,32}", fullmatch=True), max_size=3, unique=True)  # fmt: skip
COUNTRIES = st.none() | st.lists(st.from_regex(r"[A-Z]{2}", fullmatch=True), max_size=3, unique=True)  # fmt: skip
INSTANTS = st.none() | st.datetimes(
    datetime(2000, 1, 1),  # noqa: DTZ001 - made aware by the strategy
    datetime(2100, 1, 1),  # noqa: DTZ001
    timezones=st.just(UTC),
)
FOLDERS = st.lists(st.from_regex(r"[a-z][a-z0-9 äé]{0,8}[a-z0-9]", fullmatch=True), max_size=3)


def told(**more):
    return st.fixed_dictionaries({
        "external_id": SAID.map(lambda t: t[:400]).filter(says),
        "title": SAID.map(lambda t: t[:400]).filter(says),
        "body": SAID,
        "directory": FOLDERS.map("/".join),
        "language": st.sampled_from(["", "en", "ar-AE", "no"]),
        "status": st.sampled_from(["draft", "published"]),
        "visibility": st.sampled_from(["public", "internal"]),
        "channels": NAMES.map(lambda names: names and sorted(names)),
        "segments": st.sampled_from([None, [], ["gold"], ["gold", "silver"]]),
        "jurisdictions": COUNTRIES.map(lambda names: names and sorted(names)),
        "valid_from": INSTANTS.map(written),
        "valid_until": st.none(),
        **more,
    })  # fmt: skip


# What is stored; other spellings of a text come out in this one.
KEPT = {
    "title": SAID.map(clean).map(lambda t: t[:400]).filter(says),
    "body": SAID.map(clean).filter(says),
}


@given(told(valid_until=INSTANTS.map(written)))
def test_a_file_reads_back_as_it_was_written(instruction):
    text = to_markdown(instruction)
    assert from_markdown(text.encode().decode()) == {
        name: instruction[name] for name in (*KEYS, "body")
    }


@pytest.mark.django_db
@settings(
    max_examples=25,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(told(**KEPT), min_size=1, max_size=3, unique_by=lambda each: each["external_id"]))
def test_instructions_go_out_and_come_in_again_exactly(instructions):
    here, there = (tenant(f"{name}-{uuid.uuid4().hex[:12]}") for name in ("here", "there"))
    for place in (here, there):
        place.segment("gold"), place.segment("silver")
    files = [(f"{n}.md", to_markdown(each)) for n, each in enumerate(instructions)]
    outcomes = _bring_in(here, files)
    assert [each.outcome for each in outcomes] == ["created"] * len(files), outcomes
    out = _taken_out(here)
    assert sorted(text for _, text in out) == sorted(text for _, text in files)
    assert {each.outcome for each in _bring_in(there, out)} == {"created"}
    assert _taken_out(there) == out
    assert {each.outcome for each in _bring_in(there, out)} == {"unchanged"}


def _bring_in(place, files):
    with place.context():
        return list(imported(Hand(Names(place.organization.pk), BY, AT + timedelta(1)), files))


def _taken_out(place):
    with place.context():
        return list(exported(place.organization.pk))
