from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from knowledge.passages import PassagePolicy, passages
from knowledge.text.blocks import Kind, blocks
from knowledge.text.units import estimated_tokens

LINES = (
    "# Heading", "## Lower", "Title\n===", "---", "- item", "  - nested", "1. step", "   more of it", "",
    "", "| a | b |", "|---|---|", "| 1 | 2 |", "```", "Label:", "value", "A sentence. And one more? Yes!",
    "退款政策。请稍等！", "هل وصل؟ نعم.", "word " * 30, "x" * 90, "\t", "e\u0301" * 20, "😀" * 15,
)  # fmt: skip
documents = st.lists(st.sampled_from(LINES), max_size=25).map("\n".join)
bodies = st.one_of(documents, st.text(st.characters(exclude_categories=()), max_size=120))
policies = st.builds(
    PassagePolicy,
    target=st.integers(1, 120),
    overlap=st.integers(0, 60),
    least=st.integers(0, 60),
    most_tokens=st.integers(8, 120),
)


@given(bodies, policies)
def test_the_passages_of_any_text_join_up_to_it(body, limits):
    found = passages(body, limits=limits)
    assert "".join(passage.text(body) for passage in found) == (body if body.strip() else "")


@given(bodies, policies)
def test_passages_follow_each_other_and_none_is_empty(body, limits):
    found = passages(body, limits=limits)
    assert [passage.position for passage in found] == list(range(len(found)))
    assert all(passage.text(body).strip() for passage in found)


@given(bodies, policies)
def test_overlap_is_bounded_and_stays_inside_the_passage_before(body, limits):
    floor = 0
    for passage in passages(body, limits=limits):
        assert floor <= passage.context_start <= passage.start
        assert passage.start - passage.context_start <= limits.overlap
        floor = passage.start


@given(bodies, st.text(max_size=60), st.text(max_size=30), policies)
def test_indexed_text_never_exceeds_the_tokens_allowed(body, title, leaf, limits):
    for passage in passages(body, title, leaf, limits):
        indexed = passage.indexed_text(body)
        assert estimated_tokens(indexed) <= limits.most_tokens or passage.end - passage.start <= 2


@given(documents)
def test_no_passage_begins_or_ends_inside_a_list_item_or_a_row(body):
    kept = [block for block in blocks(body) if block.kind in {Kind.ITEM, Kind.ROW}]
    starts = {
        passage.start for passage in passages(body, limits=PassagePolicy(target=60, least=10))
    }
    for block in kept:
        assert not starts & set(range(block.start + 1, block.end))


@given(bodies)
def test_blocks_hold_every_character_of_a_text(body):
    found = blocks(body)
    assert "".join(body[block.start : block.end] for block in found) == (body if found else "")
    assert found or not body.strip()
