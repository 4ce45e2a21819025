"""Other systems manage answers over REST: at the version they read, once for each key."""

from __future__ import annotations

import pytest
from django.db.models import F

from golden.models import AnswerVersion, GoldenAnswer
from knowledge.models import IndexState
from tests.answers import CONTENT, Staff
from tests.people import program

pytestmark = pytest.mark.django_db
SAID = {"question": "Where is the toucan desk?", "answer": "The toucan desk is upstairs."}


class Api:
    """A program for each person of acme."""

    def __init__(self):
        self.staff = Staff()
        self.programs = {}

    def as_(self, *roles):
        if roles not in self.programs:
            name = "-".join(roles)
            self.programs[roles] = program(self.staff.tenant, name, *roles)
        return self.programs[roles]

    def begin(self, **said):
        answer = self.as_("author").post("golden-answers", SAID | said)
        assert answer.status_code == 201, answer.content
        return answer.json()["id"]

    def tag(self, pk):
        return self.as_("viewer").get(f"golden-answers/{pk}")["ETag"]

    def verb(self, pk, name, *roles, **said):
        headers = {"If_Match": self.tag(pk)}
        return self.as_(*roles).post(f"golden-answers/{pk}/{name}", said, **headers)

    def publish(self, pk):
        self.verb(pk, "request", "author")
        return self.verb(pk, "approve", "approver")


@pytest.fixture
def api():
    return Api()


def test_an_answer_is_begun_and_read_back_with_its_version(api):
    begun = api.as_("author").post("golden-answers", SAID | {"agents": ["receptionist"]})
    read = api.as_("viewer").get(begun["Location"].removeprefix("/api/v1/"))
    assert (begun.status_code, read.json()["status"]) == (201, "draft")
    assert read.json()["draft"]["agents"] == ["receptionist"]
    assert read["ETag"] == begun["ETag"]


def test_a_publish_returns_its_generation_and_is_heard_by_the_next_search(api):
    answer = api.publish(api.begin())
    assert (answer.status_code, answer.json()["status"]) == (200, "live")
    assert answer.json()["generation"] == 1
    assert api.staff.heard() == [("golden", SAID["answer"])]


def test_sync_says_whether_searches_rank_it_in_full(api):
    pk = api.begin()
    api.publish(pk)
    behind = api.as_("viewer").get(f"golden-answers/{pk}/sync").json()
    with api.staff.tenant.context():
        IndexState.objects.update(applied_generation=F("desired_generation"), status="live")
        version = AnswerVersion.objects.get()
    done = api.as_("viewer").get(f"golden-answers/{pk}/sync").json()
    assert (behind["ranked_in_full"], done["ranked_in_full"]) == (False, True)
    assert done["job"] == str(version.pk)


def test_an_answer_that_was_never_published_has_nothing_to_sync(api):
    assert api.as_("viewer").get(f"golden-answers/{api.begin()}/sync").status_code == 404


def test_a_draft_at_an_old_version_is_refused_with_both_texts(api):
    pk = api.begin()
    old = api.tag(pk)
    caller, path = api.as_("author"), f"golden-answers/{pk}/draft"
    caller.call("PUT", path, SAID | {"answer": "Newer."}, If_Match=old)
    answer = caller.call("PUT", path, SAID | {"answer": "Mine."}, If_Match=old)
    sides = answer.json()["error"]["sides"]
    assert answer.status_code == 412
    assert (sides["yours"]["answer"], sides["theirs"]["answer"]) == ("Mine.", "Newer.")


def test_a_verb_without_a_version_is_refused(api):
    answer = api.as_("author").post(f"golden-answers/{api.begin()}/request", {})
    assert answer.status_code == 428


def test_a_verb_at_an_old_version_changes_nothing(api):
    pk = api.begin()
    old = api.tag(pk)
    api.publish(pk)
    answer = api.as_("publisher").post(f"golden-answers/{pk}/archive", {}, If_Match=old)
    assert (answer.status_code, len(api.staff.heard())) == (412, 1)


def test_a_request_sent_twice_with_one_key_is_done_once(api):
    caller = api.as_("author")
    answers = [caller.post("golden-answers", SAID, Idempotency_Key="k-1") for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    with api.staff.tenant.context():
        assert GoldenAnswer.objects.count() == 1


def test_a_refused_verb_leaves_nothing_behind(api):
    pk = api.begin()
    answer = api.verb(pk, "override", "publisher")
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "reason_missing")
    with api.staff.tenant.context():
        assert not AnswerVersion.objects.exists()


@pytest.mark.parametrize(
    ("name", "roles", "code"),
    [
        ("approve", ("author",), "role_required"),
        ("override", ("approver",), "role_required"),
        ("archive", ("viewer",), "role_required"),
        ("approve", ("approver",), "request_not_open"),
        ("roll-back", ("publisher",), "version_never_published"),
        ("restore", ("publisher",), "answer_not_archived"),
        ("verify", ("author",), "nothing_published"),
    ],
)
def test_each_refusal_has_its_own_code(api, name, roles, code):
    said = {"version": 1} if name == "roll-back" else {}
    answer = api.verb(api.begin(), name, *roles, **said)
    assert answer.json()["error"]["code"] == code


def test_who_asks_may_not_approve_over_the_api(api):
    pk = api.begin()
    both = ("author", "approver")
    api.verb(pk, "request", *both)
    answer = api.verb(pk, "approve", *both)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "approver_is_requester")


def test_rolling_back_by_number_serves_the_earlier_text(api):
    pk = api.begin()
    api.publish(pk)
    newer = SAID | {"answer": "The toucan desk has moved."}
    headers = {"If_Match": api.tag(pk)}
    api.as_("author").call("PUT", f"golden-answers/{pk}/draft", newer, **headers)
    api.publish(pk)
    api.verb(pk, "roll-back", "publisher", version=1)
    assert api.staff.heard() == [("golden", SAID["answer"])]


def test_a_name_that_is_not_there_is_refused_beside_its_field(api):
    answer = api.as_("author").post("golden-answers", SAID | {"segments": ["gold"]})
    assert answer.json()["error"]["fields"] == {"segments": ["There is no gold."]}


def test_content_that_is_too_long_is_refused_beside_its_field(api):
    answer = api.as_("author").post("golden-answers", SAID | {"answer": "x" * 1_201})
    assert (answer.status_code, list(answer.json()["error"]["fields"])) == (400, ["answer"])


def test_a_foreign_answer_and_a_missing_one_are_the_same_answer(api):
    theirs = Staff("globex").published(CONTENT)
    missing = "00000000-0000-4000-8000-000000000000"
    caller = api.as_("publisher")
    for path in ("", "/sync", "/versions"):
        answers = [caller.get(f"golden-answers/{pk}{path}") for pk in (theirs, missing)]
        assert [a.status_code for a in answers] == [404, 404]
        assert answers[0].content == answers[1].content


def test_the_list_is_paged_and_filtered(api):
    for number in range(3):
        api.begin(question=f"Number {number}?")
    first = api.as_("viewer").get("golden-answers?limit=2&status=draft").json()
    second = (
        api.as_("viewer").get(f"golden-answers?limit=2&status=draft&cursor={first['next']}").json()
    )
    found = [row["draft"]["question"] for row in first["results"] + second["results"]]
    assert (sorted(found), second["next"]) == (["Number 0?", "Number 1?", "Number 2?"], None)


def test_versions_are_listed_with_their_content(api):
    pk = api.begin()
    api.publish(pk)
    (version,) = api.as_("viewer").get(f"golden-answers/{pk}/versions").json()
    assert (version["number"], version["was_live"]) == (1, True)
