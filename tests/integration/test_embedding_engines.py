from __future__ import annotations

import logging
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from knowledge.embedding import preparation
from knowledge.embedding.fast import FastEngine, open_session
from knowledge.embedding.graph import EncoderGraph, FloatProducts, serialised
from knowledge.embedding.local import CHECKOUT_CACHE, LocalEmbedder, local_embedder
from knowledge.embedding.metering import metered
from knowledge.embedding.preparation import LEAST_COSINE, fast_engine, prepared
from knowledge.embedding.samples import CHECK
from knowledge.embedding.shipped import ShippedEngine
from knowledge.embedding.tensors import Range, evened, group_inputs, read_tensors
from knowledge.embedding.weights import ModelFile, bundled_model
from knowledge.errors import EmbeddingTimeout

LONG = " ".join(CHECK)


@pytest.fixture(scope="module")
def fast():
    return fast_engine(threads=1, cache_dir=CHECKOUT_CACHE)


@pytest.fixture(scope="module")
def shipped():
    return ShippedEngine(1)


def nothing():
    pass


def unit(engine, texts, modality="passage"):
    rows = engine.embed(texts, modality, nothing).astype(np.float64)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("modality", ["query", "passage"])
def test_both_engines_give_the_same_vectors(fast, shipped, modality):
    texts = CHECK if modality == "passage" else CHECK[:6]
    cosines = (unit(fast, texts, modality) * unit(shipped, texts, modality)).sum(axis=1)
    assert cosines.min() >= LEAST_COSINE


def test_text_beyond_the_window_is_averaged_as_the_shipped_engine_does(fast, shipped):
    assert fast.token_count(LONG) > 512
    assert (unit(fast, [LONG]) * unit(shipped, [LONG])).sum() >= LEAST_COSINE


def test_queries_and_passages_differ(fast):
    assert (unit(fast, CHECK, "query") * unit(fast, CHECK)).sum(axis=1).max() < 0.999


def test_a_vector_does_not_depend_on_the_texts_beside_it(fast):
    texts = ["how do i cancel", "how do i return", "where is my order", *CHECK]
    alone = np.concatenate([unit(fast, [text]) for text in texts])
    np.testing.assert_allclose(unit(fast, texts), alone, atol=1e-6)


def test_evened_weights_compute_the_same_function(fast):
    model = ModelFile(bundled_model())
    tensors = read_tensors(model)
    chance = np.random.default_rng(3)
    ranges = {
        group: Range(
            chance.normal(size=tensors.width).astype(np.float32),
            chance.uniform(0.5, 20, tensors.width).astype(np.float32),
        )
        for group in group_inputs(tensors.layers)
    }
    plain, other = (
        FastEngine(serialised(EncoderGraph(each, FloatProducts()).model()), model, threads=2)
        for each in (tensors, evened(tensors, ranges))
    )
    np.testing.assert_allclose(unit(plain, CHECK[:6]), unit(other, CHECK[:6]), atol=1e-4)


def test_a_deadline_is_looked_at_between_runs(fast):
    looked: list[None] = []

    def between():
        looked.append(None)
        if len(looked) == 3:
            raise EmbeddingTimeout

    with pytest.raises(EmbeddingTimeout):
        fast.embed([text * 3 for text in CHECK], "passage", between)
    assert len(looked) == 3


def test_queries_do_not_wait_for_a_long_import(fast):
    started, finish = threading.Event(), threading.Event()

    class Held:
        name = "held"
        token_count = fast.token_count

        def embed(self, texts, modality, between):
            if modality == "passage":
                started.set()
                finish.wait(10)
            return fast.embed(texts, modality, between)

    embedder = LocalEmbedder(Held())
    thread = threading.Thread(
        target=embedder.embed_passages, args=(["a passage"],), kwargs={"deadline_s": 20}
    )
    thread.start()
    started.wait(10)
    assert len(embedder.embed_queries(["how do i cancel"], deadline_s=5)) == 1
    finish.set()
    thread.join()


class Stepping:
    """An engine that stops at every lot of staff's questions until it is let on."""

    name = "stepping"

    def __init__(self):
        self.lots, self.go = [], threading.Event()
        self.started = threading.Event()

    def embed(self, texts, _modality, _between):
        self.lots.append(len(texts))
        if "staff" in texts[0]:
            self.started.set()
            self.go.wait(10)
        return np.ones((len(texts), 384), np.float32)

    def token_count(self, text):
        return len(text)


def bulk(embedder, count=1_000, deadline_s=20):
    return embedder.embed_queries(["staff asks"] * count, deadline_s=deadline_s)


def test_a_question_waits_for_no_staff_that_embed_a_thousand():
    engine = Stepping()
    embedder = LocalEmbedder(engine)
    threads = [threading.Thread(target=bulk, args=(embedder,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    engine.started.wait(10)
    try:
        with metered(is_question=True):
            assert len(embedder.embed_queries(["a caller asks"], deadline_s=1)) == 1
    finally:
        engine.go.set()
        for thread in threads:
            thread.join()


def test_staff_take_turns_after_every_few_texts():
    engine = Stepping()
    engine.go.set()
    assert len(bulk(LocalEmbedder(engine), count=20)) == 20
    assert engine.lots == [8, 8, 4]


def test_only_one_lot_of_staff_is_worked_on_at_once():
    engine = Stepping()
    embedder = LocalEmbedder(engine)
    thread = threading.Thread(target=bulk, args=(embedder, 1))
    thread.start()
    engine.started.wait(10)
    try:
        with pytest.raises(EmbeddingTimeout):
            bulk(embedder, deadline_s=0.1)
    finally:
        engine.go.set()
        thread.join()


def test_an_import_that_waits_for_another_one_gives_up_in_time(fast):
    embedder = LocalEmbedder(fast)
    with embedder._turn("passage", time.monotonic() + 1), pytest.raises(EmbeddingTimeout):
        embedder.embed_passages(["a passage"], deadline_s=0.1)


def test_two_processes_prepare_at_once_and_both_can_use_it(tmp_path):
    code = (
        "import sys, pathlib; from knowledge.embedding.local import local_embedder;"
        "e = local_embedder(threads=1, cache_dir=pathlib.Path(sys.argv[1]));"
        "e.embed_queries(['refund'], deadline_s=20); print(e.engine.name)"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate(timeout=120)[0].strip() for process in both] == ["fast", "fast"]
    assert len(list(tmp_path.glob("*.onnx"))) == 1
    assert list(tmp_path.glob("*.part")) == []


def test_a_damaged_graph_is_prepared_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(preparation, "build", lambda _: prepared(CHECKOUT_CACHE, 1).read_bytes())
    graph = prepared(tmp_path, 1)
    graph.write_bytes(graph.read_bytes()[:1000])
    assert local_embedder(cache_dir=tmp_path).engine.name == "fast"
    assert graph.stat().st_size > 10_000_000


def test_a_folder_that_cannot_be_written_means_the_shipped_engine(tmp_path, caplog):
    (tmp_path / "file").write_text("not a folder")
    caplog.set_level(logging.WARNING)
    embedder = local_embedder(cache_dir=tmp_path / "file" / "models")
    assert embedder.engine.name == "shipped"
    assert "embedding_engine_falls_back" in caplog.text


def test_without_onnxruntime_the_shipped_engine_serves(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "knowledge.embedding.preparation", None)
    assert local_embedder(cache_dir=tmp_path).engine.name == "shipped"


def test_unequal_vectors_are_never_used(monkeypatch, tmp_path):
    monkeypatch.setattr(preparation, "least_cosine", lambda *_: 0.99)
    monkeypatch.setattr(preparation, "CALIBRATION", CHECK[:1])
    embedder = local_embedder(cache_dir=tmp_path)
    assert embedder.engine.name == "shipped"
    assert list(tmp_path.glob("*.onnx")) == []


def test_a_session_leaves_the_processor_alone_when_idle(fast):
    options = open_session(prepared(CHECKOUT_CACHE, 1), threads=1).get_session_options()
    assert options.get_session_config_entry("session.intra_op.allow_spinning") == "0"
