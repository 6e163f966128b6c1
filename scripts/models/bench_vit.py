"""Makes a random-weight picture classifier of ViT-base's size, for benchmarks.

    python bench_vit.py <output folder>

The folder has the layout of a hub repository: image processor and onnx/model.onnx
(86 million parameters, about 350 MB, fp32). It costs as much to load and to run as a
trained model of its size; its labels mean nothing. Needs numpy and onnx only.
"""

import argparse
from pathlib import Path

import bench_encoder
import numpy as np
from graph_tools import random_weights, report, save_model, write_json
from onnx import TensorProto, helper

SEED = 29
LABELS = [f"class {index}" for index in range(1000)]
CONFIG = {
    "architectures": ["ViTForImageClassification"],
    "attention_probs_dropout_prob": 0.0,
    "encoder_stride": 16,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.0,
    "hidden_size": 768,
    "id2label": {str(index): label for index, label in enumerate(LABELS)},
    "image_size": 224,
    "initializer_range": 0.02,
    "intermediate_size": 3072,
    "label2id": {label: index for index, label in enumerate(LABELS)},
    "layer_norm_eps": 1e-12,
    "model_type": "vit",
    "num_attention_heads": 12,
    "num_channels": 3,
    "num_hidden_layers": 12,
    "patch_size": 16,
    "problem_type": "single_label_classification",
    "qkv_bias": True,
    "transformers_version": "4.57.6",
}
PROCESSOR = {
    "do_normalize": True,
    "do_rescale": True,
    "do_resize": True,
    "image_mean": [0.5, 0.5, 0.5],
    "image_processor_type": "ViTImageProcessor",
    "image_std": [0.5, 0.5, 0.5],
    "resample": 2,
    "rescale_factor": 1 / 255,
    "size": {"height": 224, "width": 224},
}

CARD = """---
license: apache-2.0
library_name: transformers.js
pipeline_tag: image-classification
tags:
  - vit
  - onnx
---

# Bench picture classifier

Random weights in the shape of ViT-base for pictures of 224 pixels, made to measure load time and speed.
Its labels mean nothing.
"""

# The labels of a fresh head are all but equally likely; with these weights the best one has a lead.
HEAD_SPREAD = 0.1


def weight_shapes(config):
    hidden, patch = config["hidden_size"], config["patch_size"]
    patches = (config["image_size"] // patch) ** 2
    return {
        "embeddings.cls_token": (1, 1, hidden),
        "embeddings.position_embeddings": (1, patches + 1, hidden),
        "embeddings.patch_embeddings.weight": (hidden, config["num_channels"], patch, patch),
        "embeddings.patch_embeddings.bias": (hidden,),
        **bench_encoder.layer_shapes(config),
        "layernorm.weight": (hidden,),
        "layernorm.bias": (hidden,),
        "classifier.weight": (hidden, len(LABELS)),
        "classifier.bias": (len(LABELS),),
    }


class Vit(bench_encoder.Encoder):
    """[CLS] and one token for each patch; norms come before attention and feed-forward layers."""

    def embeddings(self):
        graph, config = self.graph, self.config
        hidden, patch = config["hidden_size"], config["patch_size"]
        kernel, bias = (self.weight(f"embeddings.patch_embeddings.{kind}") for kind in ("weight", "bias"))
        cells = graph.op(
            "Conv", "pixel_values", kernel, bias, kernel_shape=[patch, patch], strides=[patch, patch]
        )
        tokens = graph.op("Transpose", graph.op("Reshape", cells, graph.ints(0, hidden, -1)), perm=[0, 2, 1])
        batch = graph.op("Slice", graph.op("Shape", "pixel_values"), graph.ints(0), graph.ints(1))
        shape = graph.op("Concat", batch, graph.ints(1, hidden), axis=0)
        first = graph.op("Expand", self.weight("embeddings.cls_token"), shape)
        value = graph.op("Concat", first, tokens, axis=1)
        return graph.op("Add", value, self.weight("embeddings.position_embeddings"))

    def layer(self, value, prefix):
        graph = self.graph
        normed = self.norm(value, f"{prefix}.attention.output.LayerNorm")
        value = graph.op("Add", self.attention(normed, prefix), value)
        normed = self.norm(value, f"{prefix}.output.LayerNorm")
        inner = self.gelu(self.linear(normed, f"{prefix}.intermediate.dense"))
        return graph.op("Add", self.linear(inner, f"{prefix}.output.dense"), value)

    def build(self):
        graph = self.graph
        value = self.embeddings()
        for index in range(self.config["num_hidden_layers"]):
            value = self.layer(value, f"encoder.layer.{index}")
        first = graph.op("Gather", self.norm(value, "layernorm"), graph.int_scalar(0), axis=1)
        product = graph.op("MatMul", first, self.weight("classifier.weight"))
        graph.op("Add", product, self.weight("classifier.bias"), out="logits")
        pixels = ["batch_size", "num_channels", "height", "width"]
        return graph.model(
            "vit",
            [helper.make_tensor_value_info("pixel_values", TensorProto.FLOAT, pixels)],
            [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch_size", len(LABELS)])],
        )


def make(folder):
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "config.json", CONFIG)
    write_json(folder / "preprocessor_config.json", PROCESSOR)
    (folder / "README.md").write_text(CARD, encoding="utf-8")
    weights = random_weights(weight_shapes(CONFIG), SEED)
    weights["classifier.weight"] *= np.float32(HEAD_SPREAD / 0.02)
    save_model(Vit(CONFIG, weights).build(), folder / "onnx" / "model.onnx")
    report(folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="output folder")
    make(parser.parse_args().folder)
