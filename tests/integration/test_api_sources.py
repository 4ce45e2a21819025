"""Sources that are kept fresh, and imports, over the REST API."""

from __future__ import annotations

import uuid

import pytest

from knowledge.api.urls import urlpatterns
from knowledge.ingestion.uploads import HandedIn, hand_in, import_waiting
from knowledge.models import ImportRun, Source, SourceSchedule
from knowledge.sources.scheduling import sync_due
from tenants.models import AuditEntry
from tests.people import offices
from tests.site_server import site
from tests.world import AT, BY

pytestmark = pytest.mark.django_db
SITE = {"kind": "site", "config": {"start": "https://help.example/desk/"}, "every_minutes": 60}


@pytest.fixture
def at_work():
    return offices()


@pytest.fixture
def source(at_work):
    return at_work.acme.source()


def code(answer):
    return answer.json()["error"]["code"]


def arranged(at_work, source, **said):
    answer = at_work.editor.post(f"sources/{source.pk}/schedule", {**SITE, **said})
    assert answer.status_code == 201, answer.content
    return answer


def schedule(at_work):
    with at_work.acme.context():
        return SourceSchedule.objects.get()


def asked_about(at_work, source, removals=4):
    arranged(at_work, source)
    with at_work.acme.context():
        SourceSchedule.objects.update(
            last_outcome="needs_confirmation", asked_removals=removals, last_done_at=AT
        )
    return at_work.viewer.get(f"sources/{source.pk}/schedule")["ETag"]


def test_a_source_says_how_fresh_it_is(at_work, source):
    bare = at_work.viewer.get(f"sources/{source.pk}").json()
    assert bare["freshness"] is None
    assert at_work.viewer.get(f"sources/{source.pk}/schedule").status_code == 404
    arranged(at_work, source)
    with at_work.acme.context():
        SourceSchedule.objects.update(
            last_outcome="failed", last_reason="There is no host.", last_done_at=AT
        )
    listed = at_work.viewer.get("sources").json()["results"][0]
    read = at_work.viewer.get(f"sources/{source.pk}").json()
    for told in (listed["freshness"], read["freshness"]):
        assert (told["outcome"], told["reason"]) == ("failed", "There is no host.")
        assert told["age_seconds"] > 0
        assert told["next_run_at"]
        assert told["is_running"] is False


def test_the_name_of_a_source_changes_whatever_its_freshness_does(at_work, source):
    tag = at_work.editor.get(f"sources/{source.pk}")["ETag"]
    arranged(at_work, source)
    answer = at_work.editor.patch(f"sources/{source.pk}", {"name": "Desk"}, If_Match=tag)
    assert answer.status_code == 200


def test_a_schedule_is_made_changed_and_noted(at_work, source):
    made = arranged(at_work, source)
    assert at_work.viewer.get(f"sources/{source.pk}/schedule").json() == made.json()
    twice = at_work.editor.post(f"sources/{source.pk}/schedule", SITE)
    assert (twice.status_code, code(twice)) == (409, "name_taken")
    address = f"sources/{source.pk}/schedule"
    assert at_work.editor.patch(address, {"every_minutes": 5}).status_code == 428
    changed = at_work.editor.patch(address, {"every_minutes": 5}, If_Match=made["ETag"])
    assert (changed.status_code, changed.json()["every_minutes"]) == (200, 5)
    stale = at_work.editor.patch(address, {"is_active": False}, If_Match=made["ETag"])
    assert (stale.status_code, code(stale)) == (412, "version_changed")
    with at_work.acme.context():
        verbs = AuditEntry.objects.filter(subject_type="source_schedule")
        assert list(verbs.values_list("verb", flat=True)) == ["source.schedule"] * 2


@pytest.mark.parametrize(
    ("said", "refused"),
    [
        ({"config": {}}, "source_misconfigured"),
        ({"config": {"start": "ftp://help.example/"}}, "address_refused"),
        ({"config": {"start": "https://a.example/", "path": "/etc"}}, "source_misconfigured"),
        ({"config": {"start": "https://a.example/", "prefix": "https://b.example/"}}, "source_misconfigured"),
        ({"config": {"start": "https://a.example.evil.net/", "prefix": "https://a.example"}}, "source_misconfigured"),
        ({"config": {"start": "https://a.example/help-old/", "prefix": "https://a.example/help"}}, "source_misconfigured"),
        ({"config": {"start": "https://a.example/", "prefix": "https://a.example/?page="}}, "source_misconfigured"),
        ({"config": {"start": "https://a.example/help/", "prefix": "https://a.example@evil.net/"}}, "address_refused"),
        ({"kind": "urls", "config": {"urls": []}}, "source_misconfigured"),
        ({"kind": "urls", "config": {"urls": ["https://user@a.example/"]}}, "address_refused"),
        ({"kind": "folder", "config": {"path": "/etc"}}, "source_misconfigured"),
        ({"kind": "git", "config": {}}, "source_misconfigured"),
        ({"kind": "site", "config": {"start": "https://a.example/", "sitemap": 3}}, "source_misconfigured"),
        ({"every_minutes": -1}, "invalid_request"),
        ({"every_minutes": True}, "invalid_request"),
        ({"kind": "gopher"}, "invalid_request"),
        ({"lease_until": None}, "invalid_request"),
    ],
)  # fmt: skip
def test_a_schedule_that_could_not_be_looked_at_is_refused(at_work, source, said, refused):
    answer = at_work.editor.post(f"sources/{source.pk}/schedule", {**SITE, **said})
    status = 400 if refused == "invalid_request" else 422
    assert (answer.status_code, code(answer)) == (status, refused)


def test_golden_answers_have_no_schedule(at_work):
    with at_work.acme.context():
        golden = Source.objects.create(
            organization=at_work.acme.organization, slug="golden", name="Golden", kind="golden"
        )
    answer = at_work.editor.post(f"sources/{golden.pk}/schedule", SITE)
    assert (answer.status_code, code(answer)) == (409, "changed_by_publishing")


def test_syncing_now_is_done_by_whoever_is_free(at_work, source):
    with site() as web:
        web.page("/", "Welcome to our site.")
        arranged(at_work, source, config={"start": f"{web.address}/"}, every_minutes=0)
        with at_work.acme.context():
            SourceSchedule.objects.update(next_run_at=None)
        answer = at_work.editor.post(f"sources/{source.pk}/sync")
        assert (answer.status_code, bool(answer.json()["freshness"]["next_run_at"])) == (202, True)
        due = schedule(at_work).next_run_at
        assert sync_due(clock=lambda: due) == ["acme/help"]
    told = at_work.viewer.get(f"sources/{source.pk}").json()["freshness"]
    assert (told["outcome"], told["changes"]["created"]) == ("done", 1)


def test_removals_are_confirmed_as_they_were_seen(at_work, source):
    seen = asked_about(at_work, source)
    with at_work.acme.context():
        SourceSchedule.objects.update(asked_removals=9)
    address = f"sources/{source.pk}/removals/confirm"
    assert at_work.editor.post(address).status_code == 428
    assert at_work.editor.post(address, If_Match=seen).status_code == 412
    now = at_work.viewer.get(f"sources/{source.pk}/schedule")["ETag"]
    assert at_work.editor.post(address, If_Match=now).status_code == 200
    assert schedule(at_work).confirmed_removals == 9


def test_removals_are_refused(at_work, source):
    seen = asked_about(at_work, source)
    address = f"sources/{source.pk}/removals/refuse"
    answer = at_work.editor.post(address, If_Match=seen)
    assert (answer.status_code, answer.json()["freshness"]["outcome"]) == (200, "done")
    assert schedule(at_work).refused_removals == 4
    again = at_work.editor.post(address, If_Match=answer["ETag"])
    assert (again.status_code, code(again)) == (409, "nothing_to_confirm")


def uploaded(at_work, source):
    with at_work.acme.context():
        files = [HandedIn("a.md", b"# A\n\nAbout a."), HandedIn("b.pdf", b"%PDF-1.4 nonsense")]
        return hand_in(source, "", files, by=BY, at=AT)


def test_an_import_tells_of_each_file_and_failure(at_work, source):
    run = uploaded(at_work, source)
    import_waiting(clock=lambda: AT)
    told = at_work.viewer.get(f"imports/{run.pk}").json()
    assert (told["status"], told["source"]) == ("done", "help")
    assert told["counts"] == {
        "total": 2, "created": 1, "updated": 0, "unchanged": 0, "failed": 1, "pruned": 0,
    }  # fmt: skip
    assert {file["name"]: file["outcome"] for file in told["files"]} == {
        "a.md": "done",
        "b.pdf": "failed",
    }
    assert [failure["path"] for failure in told["failures"]] == ["b.pdf"]
    listed = at_work.viewer.get("imports?source=help&status=done").json()["results"]
    assert [row["id"] for row in listed] == [str(run.pk)]
    assert at_work.viewer.get("imports?status=paused").json()["results"] == []


def test_an_import_is_paused_resumed_tried_again_and_cancelled(at_work, source):
    run = uploaded(at_work, source)
    for verb, status in (("pause", "paused"), ("resume", "running")):
        assert at_work.editor.post(f"imports/{run.pk}/{verb}").json()["status"] == status
    import_waiting(clock=lambda: AT)
    assert at_work.editor.post(f"imports/{run.pk}/retry").json()["status"] == "running"
    cancelled = at_work.editor.post(f"imports/{run.pk}/cancel").json()
    assert cancelled["status"] == "cancelled"
    assert {file["outcome"] for file in cancelled["files"]} == {"done", "cancelled"}
    with at_work.acme.context():
        verbs = AuditEntry.objects.filter(subject_type="import_run").exclude(verb="import.ended")
        assert sorted(verbs.values_list("verb", flat=True)) == [
            "import.cancelled", "import.paused", "import.retry", "import.running", "import.upload",
        ]  # fmt: skip


# Every address of this file: what reading and acting needs there.
READ = ("sources/{source}", "sources/{source}/schedule", "imports", "imports/{run}")
ACT = (
    "sources/{source}/schedule", "sources/{source}/sync", "sources/{source}/removals/confirm",
    "sources/{source}/removals/refuse", "imports/{run}/pause", "imports/{run}/resume",
    "imports/{run}/cancel", "imports/{run}/retry",
)  # fmt: skip


def test_no_address_of_sources_and_imports_is_left_out_here():
    routes = {str(pattern.pattern) for pattern in urlpatterns}
    ours = {
        route.replace("<str:pk>", "{run}" if route.startswith("imports") else "{source}")
        for route in routes
        if route.startswith(("sources/", "imports"))
    }
    assert ours == {*READ, *ACT}


def test_viewers_read_editors_act_and_others_find_nothing(at_work, source):
    arranged(at_work, source)
    named = {"source": source.pk, "run": uploaded(at_work, source).pk}
    for route in READ:
        address = route.format(**named)
        assert at_work.viewer.get(address).status_code == 200, route
        if "{" in route:
            missing = route.format(source=uuid.uuid4(), run=uuid.uuid4())
            theirs, nothing = at_work.rival.get(address), at_work.rival.get(missing)
            assert (theirs.status_code, theirs.content) == (404, nothing.content), route
    for route in ACT:
        address, body = route.format(**named), SITE if route.endswith("schedule") else None
        refused = at_work.viewer.post(address, body)
        assert (refused.status_code, code(refused)) == (403, "role_required"), route
        assert at_work.rival.post(address, body).status_code == 404, route
        with at_work.acme.context():
            assert ImportRun.objects.get().status == "running", route


def test_an_act_that_is_sent_twice_is_done_once(at_work, source):
    run = uploaded(at_work, source)
    first = at_work.editor.post(f"imports/{run.pk}/pause", Idempotency_Key="k")
    at_work.editor.post(f"imports/{run.pk}/resume")
    again = at_work.editor.post(f"imports/{run.pk}/pause", Idempotency_Key="k")
    assert (again.content, again["Idempotency-Replayed"]) == (first.content, "true")
    with at_work.acme.context():
        assert ImportRun.objects.get().status == "running"
