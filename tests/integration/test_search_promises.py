"""What every search keeps: spellings meet, codes are exact, lists are prefixes, answers repeat."""

from __future__ import annotations

import sys

import pytest

from tests.processes import Process, product_environment, running
from tests.shop import index, shop
from tests.staff import browser, person
from tests.voice import runtime

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE_S = 300.0

SPELLINGS = [
    ("استرجاع المبلغ", "إسترجاع المبلغ"),
    ("استرجاع المبلغ", "اسْتِرْجَاعُ المَبْلَغِ"),
    ("استرجاع المبلغ", "استرجـــاع المبلغ"),
    ("استرجاع المبلغ", "أسترجاع المبلغ؟"),
    ("رمز الخزانة 4417", "رمز الخزانة ٤٤١٧"),
    ("رمز الخزانة 4417", "رمز الخزانه ٤٤١٧"),
    ("می‌خواهم عضو شوم", "می خواهم عضو شوم"),
    ("می‌خواهم عضو شوم", "مي‌خواهم عضو شوم"),
    ("WiFi password", "ＷｉＦｉ　ｐａｓｓｗｏｒｄ"),
    ("Café réservé", "Cafe\u0301 re\u0301serve\u0301"),
    ("O'Brien's locker", "O’Brien’s locker"),
    ("O'Brien's locker", "OʼBrienʼs locker"),
    ("Terminal PPR-9087", "Ｔｅｒｍｉｎａｌ ＰＰＲ－９０８７"),
]  # fmt: skip
CODES = ["PPR-9087", "ppr 9087", "ppr9087"]
SPOKEN = ["p p r nine zero eight seven", "tell me about P P R ninety eighty seven"]
ODD = [
    "?!… .,;:", "—", "a & b | !c", "C++", "a:b <-> c", "\"'\"'; --", "%_\\", "(((", "the of and to",
    "は", "猫", "𝒳", "🙂", "0", "x" * 10_000, "is it " * 1_666, "\u200f\u200f",
]  # fmt: skip


@pytest.fixture
def here(settings):
    settings.EMBEDDING_MODEL = "local"
    return shop()


class Caller:
    def __init__(self, here):
        self.agent = here.agent()
        self.voice = runtime(here.organization)
        self.session = self.voice.session(self.agent)

    def asks(self, *queries, **more):
        return self.voice.search(self.agent, self.session, *queries, **more)

    def hears(self, *queries, **more):
        return [result["id"] for result in self.asks(*queries, **more).json()["results"]]

    def title(self, *queries):
        results = self.asks(*queries).json()["results"]
        return results[0]["title"] if results else None


def test_two_spellings_of_a_question_have_the_same_first_result(here):
    caller = Caller(here)
    heard = {pair: [caller.title(text) for text in pair] for pair in SPELLINGS}
    assert heard == {pair: [pair[0], pair[0]] for pair in SPELLINGS}


def test_a_code_finds_its_item_first_however_it_is_written(here):
    caller = Caller(here)
    assert [caller.title(code) for code in CODES] == ["Terminal PPR-9087"] * len(CODES)


def test_a_code_that_is_spelled_out_finds_its_item_first_for_staff(here):
    agent = here.agent()
    viewer = browser(person("viewer", (here.organization, "viewer")))
    for spoken in (*CODES, *SPOKEN):
        page = viewer.get(f"/admin/agents/{agent.pk}/search/", {"q1": spoken})
        titles = [result.title for result in page.context["answer"].results]
        assert titles[:1] == ["Terminal PPR-9087"], spoken


def test_no_question_breaks_a_search(here):
    caller = Caller(here)
    codes = {text: caller.asks(text).status_code for text in ODD}
    assert set(codes.values()) <= {200, 400}
    assert codes["猫"] == codes["a & b | !c"] == codes["the of and to"] == 200


def test_a_question_asked_four_times_at_once_is_asked_once(here):
    caller = Caller(here)
    question = "where do umbrellas go that were left behind"
    once, four_times = caller.asks(question).json(), caller.asks(*[question] * 4).json()
    assert once["results"]
    assert four_times["results"] == once["results"]


def test_a_shorter_list_begins_a_longer_one(here):
    here.instruction("Umbrellas", "Say that umbrellas left behind wait beside the lift.")
    index(here.organization)
    caller = Caller(here)
    for question in ("umbrella left behind", "card terminal receipt", "locker keys front desk"):
        one, five, ten = (caller.hears(question, limit=limit) for limit in (1, 5, 10))
        assert one == five[:1]
        assert five == ten[:5]
        assert one


def test_an_instruction_and_an_item_that_say_the_same_are_both_shown(here):
    text = "Umbrellas that were left behind wait in the basket beside the lift."
    here.instruction("Lost umbrellas", text)
    index(here.organization)
    results = Caller(here).asks("lost umbrellas left behind").json()["results"]
    assert [result["type"] for result in results if result["content"] == text] in (
        ["instruction", "knowledge"], ["knowledge", "instruction"],
    )  # fmt: skip


def test_two_items_that_say_the_same_are_shown_once(here):
    here.item("Umbrellas", "umbrellas, that were left behind: wait in the basket beside the lift!")
    here.item("Umbrellas upstairs", "Umbrellas that were left upstairs wait beside the stairs.")
    index(here.organization)
    results = Caller(here).asks("lost umbrellas left behind", limit=10).json()["results"]
    told = [
        result["content"].lower() for result in results if "umbrella" in result["content"].lower()
    ]
    assert len([text for text in told if "lift" in text]) == 1
    assert len([text for text in told if "stairs" in text]) == 1


ASKING = """
import django
django.setup()
from django.utils import timezone
from knowledge.retrieval.deadline import Deadline
from scopes.asking import CallerFacts, Question, ask
from tenants.isolation import organization_context
from tenants.models import Organization, PhoneAgent
organization = Organization.objects.get(slug="shop")
with organization_context(organization.pk):
    agent = PhoneAgent.objects.select_related("organization").get()
for _ in range(25):
    for queries in (("umbrella", "card terminal receipt"), ("استرجاع المبلغ",), ("PPR 9087", "locker")):
        answer = ask(agent, Question(queries, limit=10), CallerFacts(None, "phone", None),
                     at=timezone.now(), deadline=Deadline.after(60)).answer
        print("DIGEST", queries[0], answer.status.value, answer.digest)
"""


def test_a_hundred_runs_in_four_processes_give_one_digest(here):
    here.agent()
    processes = [
        Process(
            [sys.executable, "-c", ASKING],
            product_environment(
                "http://127.0.0.1:9", EARMARK_EMBEDDING_MODEL="local",
                EARMARK_EMBEDDING_DIMENSIONS="0", PYTHONHASHSEED=str(seed),
            ),
        )
        for seed in (0, 1, 2, 4_294_967_295)
    ]  # fmt: skip
    with running(*processes):
        codes = [process.wait(PATIENCE_S) for process in processes]
        told = [line for p in processes for line in p.lines() if line.startswith("DIGEST")]
    assert codes == [0] * 4
    assert (len(told), len(set(told))) == (300, 3)
