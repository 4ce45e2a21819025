import asyncio

import pytest

from earmark_worker.errors import SubmissionFailed
from earmark_worker.survey import MemoryJournal, SurveyController
from earmark_worker.survey_answers import Question, read_answer

QUESTIONS = (
    Question("score", "How satisfied are you, from one to five?"),
    Question("again", "Would you call again?", kind="yes_no"),
    Question("why", "Why?", kind="text"),
)
SAID = {"score": "four", "again": "yes", "why": "fast"}


class CrashError(Exception):
    pass


class CrashingJournal(MemoryJournal):
    """Dies before or after a chosen save, once."""

    def __init__(self):
        super().__init__()
        self.saves = 0
        self.crash_at = None
        self.after = False

    async def save(self, state):
        self.saves += 1
        crash = self.saves == self.crash_at
        if crash and not self.after:
            self.crash_at = None
            raise CrashError
        await super().save(state)
        if crash:
            self.crash_at = None
            raise CrashError


class OncePerKeySink:
    def __init__(self, failures=()):
        self.taken = {}
        self.calls = 0
        self._failures = dict(failures)

    async def submit(self, key, answers):
        self.calls += 1
        how = self._failures.pop(self.calls, None)
        if how == "before":
            raise ConnectionError
        self.taken.setdefault(key, answers)
        if how == "after":
            raise TimeoutError


def a_survey(journal=None, sink=None):
    return SurveyController(
        "csat", "s-1", QUESTIONS, journal or MemoryJournal(), sink or OncePerKeySink()
    )


async def answer_all(survey):
    question = await survey.resume()
    while question is not None:
        await survey.answer(question.id, SAID[question.id])
        question = survey.question


async def run_through(journal, sink, *, limit=40):
    """Answers every open question, starting a new process after each crash."""
    for _ in range(limit):
        survey = a_survey(journal, sink)
        try:
            await answer_all(survey)
        except (CrashError, SubmissionFailed):
            continue
        if survey.submitted:
            return survey
    raise AssertionError("the survey never ended")


async def test_a_survey_is_handed_in_once_with_its_answers():
    sink = OncePerKeySink()
    await run_through(MemoryJournal(), sink)
    assert list(sink.taken.values()) == [(("score", "4"), ("again", "yes"), ("why", "fast"))]
    assert sink.calls == 1


SAVES = 8


async def test_a_survey_without_crashes_takes_the_steps_the_crash_test_walks_through():
    journal = CrashingJournal()
    await run_through(journal, OncePerKeySink())
    assert journal.saves == SAVES


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("crash_at", range(1, SAVES + 1))
@pytest.mark.parametrize("failure", [None, "before", "after"])
async def test_a_crash_between_any_two_steps_leads_to_one_submission(crash_at, after, failure):
    journal = CrashingJournal()
    journal.crash_at, journal.after = crash_at, after
    sink = OncePerKeySink({1: failure} if failure else {})
    await run_through(journal, sink)
    assert list(sink.taken.values()) == [(("score", "4"), ("again", "yes"), ("why", "fast"))]


@pytest.mark.parametrize("first", range(1, SAVES + 1))
@pytest.mark.parametrize("second", range(1, SAVES + 1))
async def test_two_crashes_lead_to_one_submission(first, second):
    journal, sink = CrashingJournal(), OncePerKeySink({1: "after", 2: "after"})
    journal.crash_at = first
    with pytest.raises(CrashError):
        await answer_all(a_survey(journal, sink))
    journal.saves, journal.crash_at, journal.after = 0, second, True
    await run_through(journal, sink)
    assert len(sink.taken) == 1


async def test_a_sink_that_stays_down_leaves_the_survey_ready_to_try_again():
    journal, sink = MemoryJournal(), OncePerKeySink(dict.fromkeys((1, 2, 3), "before"))
    survey = a_survey(journal, sink)
    await survey.resume()
    for question in ("score", "again"):
        await survey.answer(question, SAID[question])
    with pytest.raises(SubmissionFailed):
        await survey.answer("why", "fast")
    assert survey.locked
    later = a_survey(journal, sink)
    await later.resume()
    assert later.submitted
    assert not later.locked


async def test_an_answer_to_another_question_changes_nothing():
    survey = a_survey()
    await survey.resume()
    assert (await survey.answer("again", "yes")).status == "stale"
    assert survey.question.id == "score"


async def test_the_same_answer_twice_at_once_is_bound_once():
    survey = a_survey()
    await survey.resume()
    outcomes = await asyncio.gather(survey.answer("score", "4"), survey.answer("score", "4"))
    assert sorted(outcome.status for outcome in outcomes) == ["ok", "stale"]


async def test_no_side_tool_can_run_while_an_answer_is_bound():
    class SlowJournal(MemoryJournal):
        def __init__(self):
            super().__init__()
            self.seen = []

        async def save(self, state):
            await super().save(state)
            async with survey.side_tool() as allowed:
                self.seen.append((survey.refuses("transfer"), allowed))

    journal = SlowJournal()
    survey = a_survey(journal)
    await survey.resume()
    for question, said in SAID.items():
        await survey.answer(question, said)
    assert set(journal.seen) == {("answer_bound", False)}
    assert survey.refuses("transfer") is None


async def test_binding_waits_for_a_side_tool_that_already_runs():
    survey = a_survey()
    await survey.resume()
    async with survey.side_tool() as allowed:
        binding = asyncio.create_task(survey.answer("score", "4"))
        await asyncio.sleep(0.01)
        assert allowed
        assert survey.question.id == "score"
    assert (await binding).status == "ok"


async def test_an_answer_that_is_not_understood_is_asked_again_then_skipped():
    survey = a_survey()
    await survey.resume()
    first = await survey.answer("score", "blue")
    await survey.answer("score", "green")
    third = await survey.answer("score", "red")
    assert (first.status, first.attempts_left, third.status) == ("not_understood", 2, "skipped")
    assert survey.question.id == "again"


@pytest.mark.parametrize(
    ("question", "said", "stored"),
    [
        (QUESTIONS[0], "5", "5"),
        (QUESTIONS[0], "cinco", "5"),
        (QUESTIONS[0], "أربعة", "4"),
        (QUESTIONS[0], "nine", None),
        (QUESTIONS[0], "4 or 5", None),
        (QUESTIONS[1], "oui", "yes"),
        (QUESTIONS[1], "不", "no"),
        (QUESTIONS[1], "perhaps", None),
        (Question("c", "Which?", kind="choice", choices=("Card", "Loan")), "the loan", "Loan"),
        (Question("c", "Which?", kind="choice", choices=("Card", "Loan")), "one", "Card"),
        (Question("c", "Which?", kind="choice", choices=("Card", "Loan")), "card or loan", None),
    ],
)
def test_words_are_read_as_the_answer_they_give(question, said, stored):
    assert read_answer(question, said) == stored
