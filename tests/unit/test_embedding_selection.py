from __future__ import annotations

import pytest

from knowledge.embedding.local import LocalEmbedder
from knowledge.embedding.openai_compatible import OpenAICompatibleEmbedder
from knowledge.embedding.selection import (
    embedder_from_settings,
    wanted_by_django,
)
from knowledge.errors import EmbeddingMisconfigured

REMOTE = {"model": "bge-m3", "dimensions": 1024, "base_url": "http://127.0.0.1:9/v1"}


@pytest.mark.parametrize(
    "wanted", [{}, {"model": "local"}, {"api_key": "k"}, {"provider": "local"}]
)
def test_without_a_model_elsewhere_the_local_one_serves(wanted):
    assert isinstance(embedder_from_settings(wanted).embedder, LocalEmbedder)


def test_a_model_and_an_address_make_it_remote():
    embedder = embedder_from_settings(REMOTE).embedder
    assert isinstance(embedder, OpenAICompatibleEmbedder)
    assert (embedder.space.model, embedder.space.dimensions) == ("bge-m3", 1024)


def test_prefixes_belong_to_the_space():
    plain, prefixed = (
        embedder_from_settings({**REMOTE, "query_prefix": prefix}).space for prefix in ("", "q: ")
    )
    assert plain.key != prefixed.key


def test_dimensions_of_a_well_known_model_need_not_be_said():
    space = embedder_from_settings({"model": "text-embedding-3-small", "api_key": "k"}).space
    assert space.dimensions == 512


@pytest.mark.parametrize(
    "wanted",
    [
        {"model": "bge-m3"},
        {"model": "bge-m3", "base_url": "http://127.0.0.1:9"},
        {"provider": "openai", "api_key": "k"},
        {"provider": "elsewhere"},
    ],
)
def test_settings_that_cannot_work_are_refused(wanted):
    with pytest.raises(EmbeddingMisconfigured):
        embedder_from_settings(wanted)


def test_a_process_makes_each_embedder_once():
    assert embedder_from_settings(dict(REMOTE)) is embedder_from_settings(dict(REMOTE))


def test_the_dictionary_of_the_settings_decides(settings):
    settings.EARMARK_EMBEDDING = REMOTE
    assert embedder_from_settings(wanted_by_django()).space.model == "bge-m3"


def test_without_the_dictionary_the_variables_decide(settings):
    settings.EARMARK_EMBEDDING = None
    settings.EMBEDDING_MODEL, settings.EMBEDDING_DIMENSIONS = "bge-m3", 1024
    assert wanted_by_django()["model"] == "bge-m3"
    assert wanted_by_django()["dimensions"] == 1024
