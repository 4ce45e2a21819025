"""A folder that gets another key and somebody who selects it at the same instant: one waits for the other."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager, suppress

import pytest
from django.db import connections

from knowledge.models import BulkJob
from knowledge.shelving.errors import FolderInUse
from knowledge.shelving.folders import lift_folder, rename_folder
from knowledge.shelving.working import work_waiting
from scopes.errors import ScopeChangedMeanwhile
from scopes.models import FolderPick
from scopes.selecting import Picks, select
from tests.shelves import filed, order, says
from tests.world import AT, BY, tenant

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])
PATIENCE_S = 30
WAITING = """
SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid)
 WHERE datname = current_database() AND NOT granted
"""


class Doing(threading.Thread):
    """Somebody else who does something; what went wrong is raised where it is waited for."""

    def __init__(self, do):
        super().__init__(daemon=True)
        self.do, self.failure = do, None
        self.start()

    def run(self):
        try:
            self.do()
        except Exception as failure:
            self.failure = failure
        finally:
            connections.close_all()

    def ended(self):
        self.join(PATIENCE_S)
        assert not self.is_alive()
        if self.failure is not None:
            raise self.failure


@contextmanager
def before_its_commit(monkeypatch, where, do):
    """Let somebody do all but commit, until the block ends; `where` names what writes the last entry."""
    module, stands, over = (
        __import__(where, fromlist=["note"]),
        threading.Event(),
        threading.Event(),
    )
    real = module.note

    def stopping(*told, **more):
        entry = real(*told, **more)
        if threading.current_thread() is doing:
            stands.set()
            over.wait(PATIENCE_S)
        return entry

    monkeypatch.setattr(module, "note", stopping)
    doing = Doing(do)
    try:
        assert stands.wait(PATIENCE_S)
        yield
    finally:
        over.set()
        doing.ended()


def begun(do):
    """Somebody begins something else, and waits or has ended."""
    doing, until = Doing(do), time.monotonic() + PATIENCE_S
    with connections["owner"].cursor() as owner:
        while doing.is_alive() and time.monotonic() < until:
            owner.execute(WAITING)
            if owner.fetchone()[0]:
                break
            time.sleep(0.02)
    return doing


@pytest.fixture
def acme():
    made = tenant("acme")
    made.item("Hours", "The pelican lounge opens at seven.", folder="public")
    made.item("Safe", "The pelican safe opens with a code.", folder="staff")
    return made


@pytest.fixture
def clerk(acme):
    return acme.agent("clerk")


def selects(agent, key, *, version=1):
    picks = Picks(containers=frozenset([key]))
    return lambda: select(agent, "knowledge", picks, version=version, by=BY, at=AT)


def does(acme, verb, *told):
    def do():
        with acme.context():
            verb(acme.organization.pk, *told, by=BY, at=AT)

    return do


def picked(acme):
    with acme.context():
        return set(FolderPick.objects.values_list("folder_key", flat=True))


def test_a_selection_that_is_not_committed_yet_follows_the_folder(acme, clerk, monkeypatch):
    with before_its_commit(monkeypatch, "scopes.selecting", selects(clerk, "help/public")):
        moving = begun(does(acme, rename_folder, "help/public", "open"))
    moving.ended()
    assert picked(acme) == {"help/open"}
    assert says(acme, clerk, "pelican") == {"Hours"}


def test_no_folder_gets_a_key_that_somebody_is_selecting(acme, clerk, monkeypatch):
    with before_its_commit(monkeypatch, "scopes.selecting", selects(clerk, "help/new")):
        moving = begun(does(acme, rename_folder, "help/staff", "new"))
    with pytest.raises(FolderInUse):
        moving.ended()
    assert filed(acme)["Safe"] == "help/staff"
    assert says(acme, clerk, "pelican") == set()


def test_what_is_refused_at_the_end_has_not_been_done(acme, clerk, monkeypatch):
    def renames():
        with acme.context(), suppress(FolderInUse):
            rename_folder(acme.organization.pk, "help/staff", "new", by=BY, at=AT)

    with before_its_commit(monkeypatch, "scopes.selecting", selects(clerk, "help/new")):
        renaming = begun(renames)
    renaming.ended()
    assert filed(acme)["Safe"] == "help/staff"
    with acme.context():
        assert not BulkJob.objects.exists()


def test_nothing_comes_up_to_where_somebody_is_selecting(acme, clerk, monkeypatch):
    acme.item("Deep", "The pelican dives.", folder="staff/deep")
    with before_its_commit(monkeypatch, "scopes.selecting", selects(clerk, "help/deep")):
        lifting = begun(does(acme, lift_folder, "help/staff"))
    with pytest.raises(FolderInUse):
        lifting.ended()
    assert filed(acme)["Deep"] == "help/staff/deep"


def test_an_empty_folder_that_is_being_selected_comes_up_beside_nothing_of_its_name(
    acme, clerk, monkeypatch
):
    with before_its_commit(monkeypatch, "scopes.selecting", selects(clerk, "help/staff/public")):
        lifting = begun(does(acme, lift_folder, "help/staff"))
    with pytest.raises(FolderInUse):
        lifting.ended()
    assert says(acme, clerk, "pelican") == set()


def test_whoever_selects_a_folder_that_is_being_renamed_is_told(acme, clerk, monkeypatch):
    rename = does(acme, rename_folder, "help/public", "open")
    with before_its_commit(monkeypatch, "knowledge.shelving.folders", rename):
        selecting = begun(selects(clerk, "help/public"))
    with pytest.raises(ScopeChangedMeanwhile):
        selecting.ended()
    assert picked(acme) == set()


def test_a_new_agent_selects_nothing_under_a_key_that_is_being_taken_away(acme, clerk, monkeypatch):
    rename = does(acme, rename_folder, "help/public", "open")
    with before_its_commit(monkeypatch, "knowledge.shelving.folders", rename):
        newcomer = acme.agent("newcomer")
        selecting = begun(selects(newcomer, "help/public"))
        assert picked(acme) == set()
    selecting.ended()


def test_a_job_files_into_the_folder_that_is_being_renamed(acme, monkeypatch):
    item = acme.item("Holidays", "The pelican flies in May.", folder="drawer")
    order(acme, "move", item, target="help/public")
    rename = does(acme, rename_folder, "help/public", "open")
    with before_its_commit(monkeypatch, "knowledge.shelving.folders", rename):
        working = begun(lambda: work_waiting(clock=lambda: AT))
    working.ended()
    work_waiting(clock=lambda: AT)
    assert filed(acme)["Holidays"] == "help/open"
