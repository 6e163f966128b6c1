"""Makes a random-weight text classifier of BERT-base's size, for benchmarks.

    python bench_classifier.py <output folder>

The folder has the layout of a hub repository: tokenizer and onnx/model.onnx (about
440 MB, fp32). It costs as much to load and to run as a trained model of its size;
its labels mean nothing. Needs numpy and onnx only.
"""

import argparse
from pathlib import Path

import bench_encoder
from graph_tools import random_weights, report, save_model, write_json

SEED = 17
LABELS = ["NEGATIVE", "NEUTRAL", "POSITIVE"]
CONFIG = bench_encoder.CONFIG | {
    "architectures": ["BertForSequenceClassification"],
    "hidden_size": 768,
    "id2label": {str(index): label for index, label in enumerate(LABELS)},
    "intermediate_size": 3072,
    "label2id": {label: index for index, label in enumerate(LABELS)},
    "num_hidden_layers": 12,
    "problem_type": "single_label_classification",
}

CARD = """---
license: apache-2.0
library_name: transformers.js
pipeline_tag: text-classification
tags:
  - bert
  - onnx
---

# Bench classifier

Random weights in the shape of BERT-base with three labels, made to measure load time and speed.
Its labels mean nothing.
"""


def weight_shapes(config):
    hidden = config["hidden_size"]
    heads = {"pooler.dense": (hidden, hidden), "classifier": (hidden, len(LABELS))}
    shapes = bench_encoder.weight_shapes(config)
    for name, (wide, out) in heads.items():
        shapes |= {f"{name}.weight": (wide, out), f"{name}.bias": (out,)}
    return shapes


class Classifier(bench_encoder.Encoder):
    def build(self):
        graph = self.graph
        first = graph.op("Gather", self.hidden_states(), graph.int_scalar(0), axis=1)
        pooled = graph.op("Tanh", self.linear(first, "pooler.dense"))
        product = graph.op("MatMul", pooled, self.weight("classifier.weight"))
        logits = graph.op("Add", product, self.weight("classifier.bias"), out="logits")
        return self.model(logits, ["batch_size", len(LABELS)])


def make(folder):
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "config.json", CONFIG)
    bench_encoder.write_tokenizer(folder)
    (folder / "README.md").write_text(CARD, encoding="utf-8")
    weights = random_weights(weight_shapes(CONFIG), SEED)
    save_model(Classifier(CONFIG, weights).build(), folder / "onnx" / "model.onnx")
    report(folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="output folder")
    make(parser.parse_args().folder)
