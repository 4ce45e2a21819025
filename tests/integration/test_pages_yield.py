"""Pages take no more of a process than leaves callers their share of places and time."""

from __future__ import annotations

from threading import BoundedSemaphore
from typing import Any

import pytest
from django.db import connection
from django.test import Client, override_settings

from tenants.admin_site import our_site
from tenants.isolation import organization_context, within_limits
from tests.staff import browser, person
from tests.voice import runtime
from tests.world import tenant, world

pytestmark = pytest.mark.django_db
PAGE = "/admin/login/"


@pytest.fixture
def places(monkeypatch):
    """The only place of pages, which is taken."""
    only = BoundedSemaphore(1)
    only.acquire()
    monkeypatch.setattr("config.crowding.BoundedSemaphore", lambda _count: only)
    return only


@pytest.fixture
def viewer():
    acme = tenant("acme")
    return browser(person("viewer", (acme.organization, "viewer")))


@pytest.fixture
def overview():
    """Have the overview do something more."""

    def have(do):
        def watch(_request):
            do()
            return []

        our_site().add_watch(watch)
        added.append(watch)

    added: list[Any] = []
    yield have
    for watch in added:
        our_site()._watches.remove(watch)


def limit():
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        return cursor.fetchone()[0]


def test_one_page_more_than_there_are_places_is_refused_with_a_sentence(places):
    page = Client().get(PAGE)
    assert (page.status_code, page.headers["Retry-After"]) == (503, "1")
    assert "The server is busy. Try again in a moment." in page.content.decode()


def test_one_request_more_of_a_program_is_refused_in_the_envelope(places):
    answer = Client().get("/api/v1/items")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
    assert answer.json()["error"]["code"] == "overloaded"


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics", "/internal/voice/v1/contract"])
def test_what_watches_the_process_needs_no_place_of_pages(places, path):
    assert Client().get(path).status_code == 200


def test_a_caller_needs_no_place_of_pages(places):
    here = world()
    assert runtime(here.acme.organization).open(here.receptionist).status_code == 201


def test_a_page_gives_its_place_back_whatever_comes_of_it(places, viewer, overview):
    places.release()
    viewer.raise_request_exception = False
    overview(lambda: 1 / 0)
    asked = [viewer.get(path).status_code for path in ("/admin/", PAGE, "/nothing")]
    assert asked == [500, 302, 404]
    assert places.acquire(blocking=False)


@override_settings(PAGE_STATEMENT_TIMEOUT="123s")
@pytest.mark.parametrize(("method", "patience"), [("get", "123s"), ("post", "30s")])
def test_what_only_reads_has_less_time_for_a_statement(viewer, overview, method, patience):
    seen = []
    overview(lambda: seen.append(limit()))
    getattr(viewer, method)("/admin/")
    assert seen == [patience]


def test_what_a_verb_sets_for_itself_holds():
    acme = tenant("acme")
    with within_limits({"statement_timeout": "8s"}), acme.context():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = '5min'")
        with organization_context(acme.organization.pk):
            assert limit() == "5min"
        assert limit() == "5min"


def test_a_limit_that_a_context_brings_goes_before_the_pages():
    acme = tenant("acme")
    told = {"statement_timeout": "20s"}
    number = acme.organization.pk
    with within_limits({"statement_timeout": "8s"}), organization_context(number, settings=told):
        assert limit() == "20s"


@override_settings(PAGE_STATEMENT_TIMEOUT="100ms")
def test_a_page_whose_statement_is_broken_off_says_so(viewer, overview):
    overview(lambda: connection.cursor().execute("SELECT pg_sleep(5)"))
    page = viewer.get("/admin/")
    assert page.status_code == 503
    assert "This takes too long at the moment." in page.content.decode()


def test_any_other_failure_of_the_database_is_the_fault_that_it_was(viewer, overview):
    overview(lambda: connection.cursor().execute("SELECT 1 / 0"))
    viewer.raise_request_exception = False
    assert viewer.get("/admin/").status_code == 500
