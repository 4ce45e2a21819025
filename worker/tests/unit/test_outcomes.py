import json

from earmark_worker.outcomes import Attempts, from_search
from tests.fakes.backend import a_reply


def test_a_search_outcome_is_json_without_ids():
    shown = json.loads(from_search(a_reply()).for_model())
    assert shown["next_action"] == "answer_from_results"
    assert shown["results"] == [
        {"type": "knowledge", "title": "Refunds", "content": "Refunds take 5 days."}
    ]


def test_a_weak_match_asks_the_model_to_hedge():
    outcome = from_search(a_reply(guidance="The match is weak: hedge or ask back."))
    assert outcome.next_action == "hedge_or_ask_back"


def test_attempts_run_out_into_a_hand_over():
    attempts = Attempts(limit=2)
    first = attempts.failed("the 8-digit reference", "It was not found.")
    second = attempts.failed("the 8-digit reference", "It was not found.")
    assert (first.attempts_left, first.next_action) == (1, "ask_the_caller")
    assert first.required_input == "the 8-digit reference"
    assert (second.attempts_left, second.next_action) == (0, "hand_over")
    assert second.required_input is None
