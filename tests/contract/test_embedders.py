from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from knowledge.embedding.local import local_embedder
from knowledge.embedding.openai_compatible import Endpoint, OpenAICompatibleEmbedder
from knowledge.embedding.protocol import Embedder, SpaceSpec
from knowledge.embedding.query_cache import CachedEmbedder, QueryCache
from knowledge.errors import EmbeddingTimeout
from tests.embedders import CountingEmbedder
from tests.openai_server import OpenAIServer, instant_vectors, local_vectors

ODD = ["", " ", "\0", "a\0b", "\ud800", "ﷺ" * 60, "🙂", "x" * 300]


class EmbedderContract:
    many = 130  # more than one request takes

    @pytest.fixture
    def embedder(self) -> Embedder:
        raise NotImplementedError

    def test_each_text_has_one_vector_of_the_space(self, embedder):
        vectors = embedder.embed_passages(["refund", "delivery", "opening hours"], deadline_s=20)
        assert [vector.shape for vector in vectors] == [(embedder.space.dimensions,)] * 3

    def test_vectors_are_floats_of_length_one(self, embedder):
        for vector in embedder.embed_queries(["refund", "How long?"], deadline_s=20):
            assert vector.dtype == np.float32
            assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)

    def test_vectors_come_in_the_order_of_the_texts(self, embedder):
        texts = ["one", "two words", "three whole words", "four"]
        together = embedder.embed_passages(texts, deadline_s=20)
        alone = [embedder.embed_passages([text], deadline_s=20)[0] for text in texts]
        np.testing.assert_allclose(together, alone, atol=1e-4)

    def test_the_same_text_has_the_same_vector(self, embedder):
        first, again = embedder.embed_passages(["refund", "refund"], deadline_s=20)
        np.testing.assert_allclose(first, again, atol=1e-6)

    def test_no_texts_have_no_vectors(self, embedder):
        assert embedder.embed_queries([], deadline_s=20) == []

    def test_odd_texts_have_finite_vectors(self, embedder):
        vectors = embedder.embed_passages(ODD, deadline_s=30)
        assert len(vectors) == len(ODD)
        assert np.isfinite(vectors).all()

    def test_more_texts_than_one_request_takes_are_all_answered(self, embedder):
        assert len(embedder.embed_queries(["q"] * self.many, deadline_s=30)) == self.many

    def test_longer_texts_cost_more_tokens(self, embedder):
        short, long = embedder.token_count(["a word", "many more words than that, surely"])
        assert 0 < short < long

    def test_its_space_is_named_the_same_each_time(self, embedder):
        assert embedder.space.key == embedder.space.key
        assert len(embedder.space.fingerprint) == 64


class DeadlineContract:
    def test_a_spent_deadline_is_a_timeout(self, embedder):
        with pytest.raises(EmbeddingTimeout):
            embedder.embed_queries(["refund"], deadline_s=0)


@pytest.fixture(scope="module")
def fast():
    return local_embedder()


@pytest.fixture(scope="module")
def shipped():
    return local_embedder(engine="shipped", threads=1)


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(local_vectors) as running:
        yield running


def over_http(server: OpenAIServer, **endpoint: Any) -> OpenAICompatibleEmbedder:
    space = SpaceSpec(provider="openai", model="e5-passage", dimensions=384)
    return OpenAICompatibleEmbedder(space, Endpoint(server.base_url, **endpoint))


class TestFastEngine(EmbedderContract, DeadlineContract):
    @pytest.fixture
    def embedder(self, fast):
        return fast

    def test_it_is_the_fast_engine(self, fast):
        assert fast.engine.name == "fast"


class TestShippedEngine(EmbedderContract, DeadlineContract):
    many = 6

    @pytest.fixture
    def embedder(self, shipped):
        return shipped


class TestOpenAICompatible(EmbedderContract, DeadlineContract):
    @pytest.fixture
    def embedder(self, server):
        return over_http(server)


class TestOpenAICompatibleInBase64(EmbedderContract):
    @pytest.fixture
    def embedder(self):
        with OpenAIServer(instant_vectors) as server:
            yield over_http(server, encoding_format="base64", asks_dimensions=True)


class TestCached(EmbedderContract):
    @pytest.fixture
    def embedder(self, fast):
        return CachedEmbedder(fast, QueryCache())


class TestCounting(EmbedderContract):
    @pytest.fixture
    def embedder(self):
        return CountingEmbedder()
