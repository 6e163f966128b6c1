"""A thin layer over onnx.helper for graphs that are written by hand."""

import json

import numpy as np
import onnx
from onnx import helper, numpy_helper

OPSET = 17
# Old enough for every runtime of the last years, whatever onnx release writes the file.
IR_VERSION = 8


def save_safetensors(weights, path):
    """Float32 weights by name, as the hub has them: header length, header, data."""
    header, at = {}, 0
    for name, array in weights.items():
        size = 4 * array.size
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for array in weights.values():
            file.write(np.ascontiguousarray(array, dtype="<f4").tobytes())


class Graph:
    """Collects nodes and weights, and names the values in between."""

    def __init__(self):
        self.nodes = []
        self.weights = []
        self.known = set()

    def weight(self, name, array):
        if name not in self.known:
            self.known.add(name)
            # Not ascontiguousarray, which would turn a scalar into a list of one.
            self.weights.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        return name

    def ints(self, *values):
        name = "ints_" + "_".join(str(value).replace("-", "m") for value in values)
        return self.weight(name, np.array(values, dtype=np.int64))

    def int_scalar(self, value):
        return self.weight(f"int_{value}", np.array(value, dtype=np.int64))

    def float(self, name, value):
        return self.weight(name, np.array(value, dtype=np.float32))

    def op(self, kind, *inputs, out=None, also=(), **attributes):
        """Adds a node and gives the name of its first output; `also` names further ones."""
        out = out or f"{kind}_{len(self.nodes)}"
        outs = [out, *also]
        self.nodes.append(helper.make_node(kind, list(inputs), outs, name=f"node_{out}", **attributes))
        return out

    def split(self, value, axis):
        outs = [f"split_{len(self.nodes)}_{part}" for part in "ab"]
        self.nodes.append(helper.make_node("Split", [value], outs, name=f"node_{outs[0]}", axis=axis))
        return outs

    def model(self, name, inputs, outputs):
        graph = helper.make_graph(self.nodes, name, inputs, outputs, self.weights)
        domains = {node.domain for node in self.nodes} - {""}
        opsets = [helper.make_opsetid("", OPSET), *(helper.make_opsetid(name, 1) for name in domains)]
        made = helper.make_model(graph, opset_imports=opsets, producer_name="slipway")
        made.ir_version = IR_VERSION
        onnx.checker.check_model(made, full_check=True)
        return made


def write_json(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def save_model(model, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(path))


def special_token(token_id, content):
    """An entry of `added_tokens` in a tokenizer.json."""
    return {
        "id": token_id,
        "content": content,
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": True,
    }


def random_weights(shapes, seed, spread=0.02):
    """Normal weights; norms are left at one and biases at zero, as in a fresh model."""
    generator = np.random.default_rng(seed)
    weights = {}
    for name, shape in shapes.items():
        if name.endswith(("norm.weight", "LayerNorm.weight")):
            weights[name] = np.ones(shape, np.float32)
        elif name.endswith("bias"):
            weights[name] = np.zeros(shape, np.float32)
        else:
            weights[name] = generator.standard_normal(shape, np.float32) * np.float32(spread)
    return weights


def report(folder):
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{folder}: {size / 1e6:.1f} MB")
