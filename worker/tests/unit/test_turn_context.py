from earmark_worker.turn_context import capture, cut, fill
from tests.fakes.backend import view_of


def test_the_utterance_is_the_latest_caller_turn_redacted():
    context = capture(view_of("c:hi", "c:my card is 4111111111111111"), {})
    assert context.utterance == "my card is [16-digit structured value]"
    assert context.structured_value_digits == 16


def test_the_latest_structured_value_of_the_call_is_counted():
    context = capture(view_of("c:it is 12345678", "a:Thank you.", "c:how long will it take"), {})
    assert context.structured_value_digits == 8


def test_only_allowlisted_call_metadata_leaves():
    context = capture(view_of("c:help"), {"country": "AE", "caller_number": "+971501234567"})
    assert context.body()["call"] == {"country": "AE"}


def test_a_number_hidden_in_allowed_metadata_is_redacted():
    context = capture(view_of("c:help"), {"channel": "phone 0501234567"})
    assert "0501234567" not in str(context.body())


def test_the_context_is_cut_to_a_thousand_characters():
    context = capture(view_of("c:" + "refund " * 400), {"country": "AE"})
    assert len(context.utterance) + len(str(context.body()["call"])) <= 1000


def test_a_cut_never_splits_a_marker():
    assert cut("pay [10-digit structured value] now", 12) == "pay"


def test_case_and_punctuation_do_not_change_the_digest():
    plain = capture(view_of("c:i want a refund"), {})
    assert plain.digest == capture(view_of("c:I want a refund."), {}).digest
    assert plain.digest != capture(view_of("c:i want a return"), {}).digest


def test_unused_places_are_filled_with_earlier_turns():
    context = capture(view_of("c:my card is lost", "c:in Dubai", "c:what now"), {})
    assert fill(["card lost"], context) == [
        "card lost",
        "in Dubai what now",
        "my card is lost what now",
    ]


def test_variants_never_push_out_what_the_model_asked():
    context = capture(view_of("c:a lost card", "c:b what now"), {})
    assert fill(["q one", "q two", "q three", "q four"], context) == [
        "q one",
        "q two",
        "q three",
        "q four",
    ]


def test_queries_are_cut_to_their_longest_length():
    assert len(fill(["word " * 200], capture(view_of("c:x"), {}))[0]) <= 500
