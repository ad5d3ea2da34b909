"""From a trained torch model to the folder that ships: ONNX with int8 weights, tokenizer, card.

Weights are stored as int8 with one scale per channel (a row of the word table, an output of a matrix) and turned back into
float32 by two operators that both engines fold when they load the file: a quarter of the size, computed in float. The drift is
measured at export and written into the card.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from torch import nn

SMALLEST = 16_384
"""Tensors with fewer numbers stay float: their size does not matter."""


def export(model: nn.Module, output: str, folder: Path, tokenizer: Path, card: Mapping[str, Any]) -> None:
    """Write `folder`: the model with its one output called `output`, the tokenizer file, and `card` with the sha256 added."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "model.onnx"
    model.eval()
    example = torch.ones(2, 8, dtype=torch.int64)
    inputs = ["input_ids", "attention_mask", "token_type_ids"]
    with warnings.catch_warnings():
        # The script exporter is the one whose graphs both engines fold well; torch warns that it is the older one.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model, (example, example, torch.zeros_like(example)), str(path), input_names=inputs, output_names=[output],
            dynamic_axes={name: {0: "batch", 1: "tokens"} for name in [*inputs, output]}, dynamo=False, opset_version=17,
        )  # fmt: skip
    onnx.save(quantize(onnx.load(path)), path)
    shutil.copyfile(tokenizer, folder / "tokenizer.json")
    whole = {**card, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    (folder / "model.json").write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", "utf-8")


def restore_weights(path: Path) -> dict[str, torch.Tensor]:
    """The torch model's weights back out of a `model.onnx` that `export` wrote, as near as int8 keeps them."""
    graph = onnx.load(path).graph
    tensors = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    for name in [name.removesuffix("_int8") for name in tensors if name.endswith("_int8")]:
        tensors[name] = tensors.pop(f"{name}_int8").astype(np.float32) * tensors.pop(f"{name}_scale")
    made_by = {node.output[0]: node for node in graph.node if node.op_type == "MatMul"}
    for node in graph.node:
        # A linear layer is a product with an unnamed transposed matrix, and then the sum with its named bias.
        bias, product = next(
            ((one, made_by[other]) for one, other in (node.input, node.input[::-1]) if one in tensors and other in made_by),
            (None, None),
        ) if node.op_type == "Add" else (None, None)  # fmt: skip
        if bias is not None and product is not None:
            tensors[f"{bias.removesuffix('.bias')}.weight"] = tensors.pop(product.input[1]).T
    return {name: torch.from_numpy(values.copy()) for name, values in tensors.items()}


def quantize(model: onnx.ModelProto) -> onnx.ModelProto:
    """The same graph with every large matrix stored as int8."""
    graph = model.graph
    axes = {node.input[1]: 0 for node in graph.node if node.op_type == "MatMul"}
    axes |= {
        node.input[1]: 1 if any(a.name == "transB" and a.i for a in node.attribute) else 0
        for node in graph.node if node.op_type == "Gemm"
    }  # fmt: skip
    initializers, conversions = [], []
    for tensor in graph.initializer:
        values = numpy_helper.to_array(tensor)
        if values.dtype != np.float32 or values.ndim != 2 or values.size < SMALLEST:
            initializers.append(tensor)
            continue
        whole, scale = _round_to_int8(values, axes.get(tensor.name, 1))
        initializers += [
            numpy_helper.from_array(whole, f"{tensor.name}_int8"),
            numpy_helper.from_array(scale, f"{tensor.name}_scale"),
        ]
        conversions += [
            helper.make_node("Cast", [f"{tensor.name}_int8"], [f"{tensor.name}_float"], to=TensorProto.FLOAT),
            helper.make_node("Mul", [f"{tensor.name}_float", f"{tensor.name}_scale"], [tensor.name]),
        ]
    nodes = [*conversions, *graph.node]
    del graph.initializer[:], graph.node[:]
    graph.initializer.extend(initializers)
    graph.node.extend(nodes)
    onnx.checker.check_model(model)
    return model


def _round_to_int8(values: NDArray[np.float32], axis: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Symmetric int8 and its scale, one scale for each line along `axis`."""
    scale = np.maximum(np.abs(values).max(axis=axis, keepdims=True), 1e-8).astype(np.float32) / 127
    return np.clip(np.rint(values / scale), -127, 127).astype(np.int8), scale
