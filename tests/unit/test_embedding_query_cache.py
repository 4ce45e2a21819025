from __future__ import annotations

import threading

import numpy as np
import pytest
from prometheus_client import REGISTRY

from knowledge.embedding.protocol import SpaceSpec
from knowledge.embedding.query_cache import CacheCounts, CachedEmbedder, QueryCache
from knowledge.errors import EmbeddingTimeout
from tests.embedders import CountingEmbedder

ONE, OTHER = SpaceSpec("p", "m", 3), SpaceSpec("p", "m", 3, query_prefix="q: ")


def vector(value=1.0):
    return np.full(3, value, np.float32)


def test_a_vector_is_found_again():
    cache = QueryCache()
    cache.put(ONE, "refund", vector(2))
    np.testing.assert_array_equal(cache.get(ONE, "refund"), vector(2))


def test_spaces_do_not_share_vectors():
    cache = QueryCache()
    cache.put(ONE, "refund", vector())
    assert cache.get(OTHER, "refund") is None


def test_no_text_is_held():
    cache = QueryCache()
    cache.put(ONE, "what a caller said", vector())
    assert "caller" not in repr(vars(cache))


def test_a_space_that_has_gone_leaves_nothing():
    cache = QueryCache()
    cache.put(ONE, "a", vector())
    cache.clear()
    assert (len(cache), cache.get(ONE, "a")) == (0, None)


def test_what_was_remembered_and_what_was_new_is_a_metric():
    def told(found):
        return REGISTRY.get_sample_value("earmark_query_vectors_total", {"found": found})

    before = told("remembered"), told("new")
    cache = QueryCache()
    cache.get(ONE, "a")
    cache.put(ONE, "a", vector())
    cache.get(ONE, "a")
    assert (told("remembered"), told("new")) == (before[0] + 1, before[1] + 1)


def test_the_one_not_used_for_longest_goes_first():
    cache = QueryCache(most=2)
    cache.put(ONE, "a", vector())
    cache.put(ONE, "b", vector())
    cache.get(ONE, "a")
    cache.put(ONE, "c", vector())
    assert [cache.get(ONE, text) is not None for text in "abc"] == [True, False, True]


def test_hits_and_misses_are_counted():
    cache = QueryCache()
    cache.get(ONE, "a")
    cache.put(ONE, "a", vector())
    cache.get(ONE, "a")
    cache.get(ONE, "a")
    assert cache.counts == CacheCounts(hits=2, misses=1)


def test_a_kept_vector_cannot_be_changed():
    kept = vector()
    QueryCache().put(ONE, "a", kept)
    with pytest.raises(ValueError, match="read-only"):
        kept[0] = 7


def test_many_threads_leave_it_whole_and_bounded():
    cache = QueryCache(most=50)

    def work(start):
        for number in range(500):
            cache.put(ONE, str(start * number % 97), vector())
            cache.get(ONE, str(number % 97))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cache.counts.hits + cache.counts.misses == 8 * 500
    assert sum(cache.get(ONE, str(number)) is not None for number in range(97)) <= 50


def test_only_new_queries_are_asked_of_the_embedder():
    embedder = CountingEmbedder()
    cached = CachedEmbedder(embedder, QueryCache())
    cached.embed_queries(["a", "b"], deadline_s=1)
    cached.embed_queries(["b", "c", "c", "a"], deadline_s=1)
    assert embedder.calls == [2, 1]
    assert embedder.paid_twice == []


def test_remembered_and_new_vectors_keep_the_order_of_the_texts():
    embedder = CountingEmbedder()
    cached = CachedEmbedder(embedder, QueryCache())
    cached.embed_queries(["b"], deadline_s=1)
    vectors = cached.embed_queries(["a", "b", "a", "c"], deadline_s=1)
    np.testing.assert_array_equal(
        vectors, embedder.embed_queries(["a", "b", "a", "c"], deadline_s=1)
    )


def test_passages_are_never_kept():
    embedder = CountingEmbedder()
    cached = CachedEmbedder(embedder, QueryCache())
    for _ in range(2):
        cached.embed_passages(["a"], deadline_s=1)
    assert embedder.calls == [1, 1]
    assert cached.cache.counts == CacheCounts(hits=0, misses=0)


def test_what_is_remembered_needs_no_time():
    embedder = CachedEmbedder(CountingEmbedder(), QueryCache())
    known = embedder.embed_queries(["refund"], deadline_s=20)
    np.testing.assert_array_equal(embedder.embed_queries(["refund"], deadline_s=0), known)
    with pytest.raises(EmbeddingTimeout):
        embedder.embed_queries(["refund", "delivery"], deadline_s=0)
