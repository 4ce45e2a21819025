"""The encoder of multilingual-e5-small as an ONNX graph, its matrix products in floats or in bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from knowledge.embedding.tensors import Tensors
from knowledge.embedding.weights import Float32s

CONTRIB = "com.microsoft"
OPSETS = [helper.make_opsetid("", 18), helper.make_opsetid(CONTRIB, 1)]
IR_VERSION = 10
EPSILON = 1e-12


class Sheet:
    """The graph being written: nodes in order, constants by name."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def constant(self, name: str, value: npt.ArrayLike, dtype: npt.DTypeLike = np.float32) -> str:
        """Puts a constant down once and gives its name back."""
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.array(value, dtype), name)
        return name

    def add(self, operator: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        """Writes a node and gives the name of its output back."""
        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output


class Products(Protocol):
    """How matrix products are written."""

    def prepare(self, sheet: Sheet, rows: str) -> None:
        """Writes once what all products of the same rows need."""
        ...

    def multiply(self, sheet: Sheet, rows: str, weight: Float32s, name: str) -> str:
        """Writes `rows` times `weight` as the node `name`."""
        ...


class FloatProducts:
    """Plain 32-bit products."""

    def prepare(self, sheet: Sheet, rows: str) -> None:
        """Nothing to prepare."""

    def multiply(self, sheet: Sheet, rows: str, weight: Float32s, name: str) -> str:
        """Writes `rows` times `weight` as the node `name`."""
        return sheet.add("MatMul", [rows, sheet.constant(f"{name}.w", weight)], name)


class ByteProducts:
    """Products of 8-bit integers: weights scaled per column, activations per row.

    A scale per row keeps a text's vector independent of its neighbours in the batch.
    """

    CENTRE = 128
    # GELU never goes below -0.17: its zero sits low and most of the 256 steps serve the positive side.
    GELU_CENTRE, GELU_LEAST = 32, 0.17
    TINY = 1e-8

    def prepare(self, sheet: Sheet, rows: str) -> None:
        """Writes the rows as bytes, and the step of each row."""
        axis = sheet.constant("columns", [1], np.int64)
        centre = self._centre(rows)
        most = sheet.add("ReduceMax", [rows, axis], f"{rows}.most")
        steps = sheet.constant(f"steps.{centre}", 1 / (255 - centre))
        reach = sheet.add("Max", [most, self._floor(sheet, rows, axis)], f"{rows}.reach")
        step = sheet.add("Mul", [reach, steps], f"{rows}.step")
        flat = sheet.add("Squeeze", [step, axis], f"{rows}.steps")
        count = sheet.add("Shape", [flat], f"{rows}.count")
        zero = sheet.constant(f"zeros.{centre}", [centre], np.uint8)
        zeros = sheet.add("Expand", [zero, count], f"{rows}.zeros")
        sheet.add("QuantizeLinear", [rows, flat, zeros], f"{rows}.bytes", axis=0)

    def multiply(self, sheet: Sheet, rows: str, weight: Float32s, name: str) -> str:
        """Writes `rows` times `weight` as the node `name`."""
        centre = self._centre(rows)
        step = np.maximum(np.abs(weight).max(axis=0), self.TINY) / 127
        inputs = [
            f"{rows}.bytes",
            sheet.constant(f"{name}.w", np.rint(weight / step), np.int8),
            sheet.constant("one", 1),
            sheet.constant(f"{name}.step", step),
            sheet.constant(f"zero.{centre}", centre, np.uint8),
            sheet.constant("zero", 0, np.int8),
        ]
        unscaled = sheet.add("MatMulIntegerToFloat", inputs, f"{name}.unscaled", domain=CONTRIB)
        return sheet.add("Mul", [unscaled, f"{rows}.step"], name)

    def _floor(self, sheet: Sheet, rows: str, axis: str) -> str:
        centre = self._centre(rows)
        if centre == self.GELU_CENTRE:
            return sheet.constant("gelu.floor", self.GELU_LEAST / centre * (255 - centre))
        least = sheet.add("ReduceMin", [rows, axis], f"{rows}.least")
        mirrored = sheet.add("Neg", [least], f"{rows}.mirrored")
        return sheet.add("Max", [mirrored, sheet.constant("tiny", self.TINY)], f"{rows}.floor")

    def _centre(self, rows: str) -> int:
        return self.GELU_CENTRE if rows.endswith(".gelu") else self.CENTRE


class EncoderGraph:
    """Writes the encoder.

    Shape: in `x` (texts, tokens, width), sums of word, position and type vectors; out `vectors` (texts, width), means over
    the tokens. All texts of a run have equally many tokens, so that nothing is padded and nothing masked.
    """

    def __init__(self, tensors: Tensors, products: Products) -> None:
        self._tensors = tensors
        self._products = products
        self._sheet = Sheet()

    def model(self, watched: Sequence[str] = ()) -> onnx.ModelProto:
        """The whole model; `watched` names inner nodes that become outputs too."""
        sheet = self._sheet
        sheet.constant("rows", [-1, self._tensors.width], np.int64)
        sheet.add("Reshape", ["x", "rows"], "x.rows")
        sheet.add("Shape", ["x"], "shape")
        hidden = self._normalised("x.rows", "emb.ln")
        for number in range(self._tensors.layers):
            hidden = self._layer(f"l{number}", *hidden)
        cube = sheet.add("Reshape", [hidden[1], "shape"], "hidden")
        tokens = sheet.constant("tokens", [1], np.int64)
        sheet.add("ReduceMean", [cube, tokens], "vectors", keepdims=0)
        return self._finished(watched)

    def _finished(self, watched: Sequence[str]) -> onnx.ModelProto:
        width, info = self._tensors.width, helper.make_tensor_value_info
        entry = info("x", TensorProto.FLOAT, ["texts", "tokens", width])
        exits = [info("vectors", TensorProto.FLOAT, ["texts", width])]
        exits += [info(name, TensorProto.FLOAT, ["flat", width]) for name in watched]
        constants = list(self._sheet.constants.values())
        graph = helper.make_graph(self._sheet.nodes, "encoder", [entry], exits, constants)
        return helper.make_model(graph, opset_imports=OPSETS, ir_version=IR_VERSION)

    def _layer(self, layer: str, summed: str, hidden: str) -> tuple[str, str]:
        seen = self._view(f"{layer}.qkv", summed, hidden)
        attended = self._linear(self._attention(layer, seen), f"{layer}.ao")
        summed = self._sheet.add("Add", [hidden, attended], f"{layer}.aln.sum")
        summed, hidden = self._normalised(summed, f"{layer}.aln")
        seen = self._view(f"{layer}.fi", summed, hidden)
        inner = self._linear(seen, f"{layer}.fi")
        active = self._sheet.add("Gelu", [inner], f"{layer}.gelu", domain=CONTRIB)
        self._products.prepare(self._sheet, active)
        change = self._linear(active, f"{layer}.fo")
        return self._normalised(
            self._sheet.add("Add", [hidden, change], f"{layer}.oln.sum"), f"{layer}.oln"
        )

    def _attention(self, layer: str, seen: str) -> str:
        sheet = self._sheet
        cubes = [
            sheet.add(
                "Reshape", [self._linear(seen, f"{layer}.{part}"), "shape"], f"{layer}.{part}3"
            )
            for part in "qkv"
        ]
        heads = self._tensors.heads
        cube = sheet.add(
            "MultiHeadAttention", cubes, f"{layer}.cube", domain=CONTRIB, num_heads=heads
        )
        context = sheet.add("Reshape", [cube, "rows"], f"{layer}.context")
        self._products.prepare(sheet, context)
        return context

    def _view(self, group: str, summed: str, hidden: str) -> str:
        view = self._tensors.views.get(group)
        rows = hidden if view is None else self._layer_norm(summed, f"{group}.view", *view)
        self._products.prepare(self._sheet, rows)
        return rows

    def _linear(self, rows: str, name: str) -> str:
        weight, bias = (self._tensors.floats[f"{name}.{part}"] for part in "wb")
        product = self._products.multiply(self._sheet, rows, weight, f"{name}.product")
        return self._sheet.add("Add", [product, self._sheet.constant(f"{name}.b", bias)], name)

    def _normalised(self, summed: str, norm: str) -> tuple[str, str]:
        floats = self._tensors.floats
        return summed, self._layer_norm(summed, norm, floats[f"{norm}.w"], floats[f"{norm}.b"])

    def _layer_norm(self, rows: str, name: str, weight: Float32s, bias: Float32s) -> str:
        sheet = self._sheet
        inputs = [rows, sheet.constant(f"{name}.w", weight), sheet.constant(f"{name}.b", bias)]
        return sheet.add("LayerNormalization", inputs, name, axis=-1, epsilon=EPSILON)


def serialised(model: onnx.ModelProto) -> bytes:
    """The bytes onnxruntime reads."""
    content: bytes = model.SerializeToString()
    return content
