"""Passages of texts that nobody here wrote; which ones, tests/corpora.py says."""

from __future__ import annotations

import pytest

from knowledge.passages import STANDARD, passages
from knowledge.text.units import estimated_tokens
from tests.corpora import Corpus, corpora

SAMPLED = 25
_FOUND = {corpus.name: corpus for corpus in corpora()}


def covered(corpus: Corpus) -> None:
    for row in corpus.rows:
        body = row["text"]
        found = passages(body, title=row["title"], folder_leaf=row.get("folder", ""))
        assert "".join(passage.text(body) for passage in found) == body
        assert [passage.position for passage in found] == list(range(len(found)))
        for passage in found:
            assert estimated_tokens(passage.indexed_text(body)) <= STANDARD.most_tokens


@pytest.mark.parametrize("name", _FOUND)
def test_the_passages_of_every_so_manieth_real_text_join_up_to_it(name):
    covered(_FOUND[name].every(SAMPLED))


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", _FOUND)
def test_the_passages_of_every_real_text_join_up_to_it(name):
    covered(_FOUND[name])
