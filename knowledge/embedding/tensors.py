"""The encoder's weights as floats, and the same encoder with its activations evened out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from knowledge.embedding.weights import Float32s, ModelFile, dequantised

SMALLEST = 1e-6


@dataclass(frozen=True, slots=True)
class Range:
    """What one input of matrix products looked like, per channel."""

    mean: Float32s
    reach: Float32s  # largest distance from the mean


@dataclass(frozen=True, slots=True)
class Tensors:
    """All weights by name; matrices are (inputs, outputs).

    `views` holds, for a group of products, another weight and bias for the layer norm that feeds it.
    """

    layers: int
    heads: int
    width: int
    floats: Mapping[str, Float32s]
    views: Mapping[str, tuple[Float32s, Float32s]]


def read_tensors(model: ModelFile) -> Tensors:
    """The weights of the bundled model, spelt out.

    Cost: 85 MB.
    """
    floats = {"emb.ln.w": model.floats("emb.ln.w"), "emb.ln.b": model.floats("emb.ln.b")}
    for number in range(model.layers):
        layer = f"l{number}"
        for name in ("q", "k", "v", "ao", "fi", "fo"):
            columns = model.inner if name == "fo" else model.width
            packed = model.blocks(f"{layer}.{name}.w", columns)
            floats[f"{layer}.{name}.w"] = np.ascontiguousarray(dequantised(packed).T)
            floats[f"{layer}.{name}.b"] = model.floats(f"{layer}.{name}.b")
        for name in ("aln.w", "aln.b", "oln.w", "oln.b"):
            floats[f"{layer}.{name}"] = model.floats(f"{layer}.{name}")
    return Tensors(model.layers, model.heads, model.width, floats, {})


def group_inputs(layers: int) -> dict[str, str]:
    """For each group of products that can be evened, the node that feeds it."""
    inputs = {}
    for number in range(layers):
        inputs[f"l{number}.qkv"] = f"l{number - 1}.oln" if number else "emb.ln"
        inputs[f"l{number}.ao"] = f"l{number}.context"
        inputs[f"l{number}.fi"] = f"l{number}.aln"
    return inputs


def evened(tensors: Tensors, ranges: Mapping[str, Range]) -> Tensors:
    """The same function in other numbers, kinder to 8-bit steps.

    A few channels reach ten times further than the rest and would take all the steps. The mean of each channel moves
    into the biases, its size partly into the weights behind it (the geometric middle, as SmoothQuant does).
    """
    floats, views = dict(tensors.floats), dict(tensors.views)
    for group, source in group_inputs(tensors.layers).items():
        layer, _, name = group.partition(".")
        members = [f"{layer}.{part}" for part in ("qkv" if name == "qkv" else [name])]
        scale = _scale(ranges[group], [floats[f"{member}.w"] for member in members])
        mean = ranges[group].mean
        for member in members:
            floats[f"{member}.b"] = floats[f"{member}.b"] + mean @ floats[f"{member}.w"]
            floats[f"{member}.w"] = floats[f"{member}.w"] * scale[:, None]
        if name == "ao":
            # The context is an average of values, so it is moved and scaled through them.
            floats[f"{layer}.v.w"] = floats[f"{layer}.v.w"] / scale
            floats[f"{layer}.v.b"] = (floats[f"{layer}.v.b"] - mean) / scale
        else:
            bias = (floats[f"{source}.b"] - mean) / scale
            views[group] = (floats[f"{source}.w"] / scale, bias)
    return Tensors(tensors.layers, tensors.heads, tensors.width, floats, views)


def _scale(seen: Range, weights: list[Float32s]) -> Float32s:
    strongest = np.max([np.abs(weight).max(axis=1) for weight in weights], axis=0)
    ratio = np.maximum(seen.reach, SMALLEST) / np.maximum(strongest, SMALLEST)
    scale: Float32s = np.sqrt(ratio / np.exp(np.log(ratio).mean())).astype(np.float32)
    return scale
