import pytest

from earmark_worker.question_boundary import QuestionBoundary


@pytest.mark.parametrize("mark", ["?", "؟", "？", "⁇", "‽", "\u037e", "՞", "﹖"])
def test_a_question_mark_of_any_script_asks(mark):
    boundary = QuestionBoundary()
    assert boundary.feed(f"Which branch{mark} Let me")


def test_a_statement_asks_nothing():
    boundary = QuestionBoundary()
    assert not boundary.feed("Refunds take five days.")


def test_a_mark_at_the_end_of_the_text_so_far_counts_at_once():
    boundary = QuestionBoundary()
    assert boundary.feed("Which branch?")


def test_a_mark_inside_a_web_address_is_no_question():
    boundary = QuestionBoundary()
    for piece in ("See https://acme.com/help?", "topic=1 for", " more."):
        boundary.feed(piece)
    assert not boundary.asked


def test_a_question_stays_asked():
    boundary = QuestionBoundary()
    boundary.feed("Which one?")
    boundary.feed(" I will look.")
    assert boundary.asked


def test_a_question_split_over_chunks_is_seen():
    boundary = QuestionBoundary()
    assert [boundary.feed(piece) for piece in "Why ? x"] == [False] * 4 + [True] * 3
