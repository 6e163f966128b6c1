"""Makes a random-weight sentence encoder of the size of all-MiniLM-L6-v2, for benchmarks.

    python bench_encoder.py <output folder>

The folder has the layout of a hub repository: tokenizer, sentence-transformers
files and onnx/model.onnx (about 90 MB, fp32). It costs as much to load and to run
as the real model; its embeddings mean nothing. Needs numpy and onnx only.
"""

import argparse
from itertools import product
from pathlib import Path
from string import ascii_lowercase

from graph_tools import Graph, random_weights, report, save_model, save_safetensors, special_token, write_json
from onnx import TensorProto, helper

SEED = 11
MAX_SEQUENCE = 256
MASKED = -1e9
CONFIG = {
    "architectures": ["BertModel"],
    "attention_probs_dropout_prob": 0.1,
    "classifier_dropout": None,
    "gradient_checkpointing": False,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "hidden_size": 384,
    "initializer_range": 0.02,
    "intermediate_size": 1536,
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": 512,
    "model_type": "bert",
    "num_attention_heads": 12,
    "num_hidden_layers": 6,
    "pad_token_id": 0,
    "position_embedding_type": "absolute",
    "transformers_version": "4.57.6",
    "type_vocab_size": 2,
    "use_cache": True,
    "vocab_size": 30522,
}

# ---------------------------------------------------------------- tokenizer

SPECIALS = {"[PAD]": 0, "[UNK]": 100, "[CLS]": 101, "[SEP]": 102, "[MASK]": 103}
COMMON = """the of and to in is it that was for on are with as they be at one have this from or had by
not but what all were when we there can an your which their said if do will each about how up out them
then she many some so these would other into has more her two like him see time could no make than
first been its who now people my made over did down only way find use may water long little very after
words called just where most know sentence search text model image query document""".split()


def vocabulary():
    """30522 tokens: any lower-case word is split into parts of up to three letters.

    That gives English text about as many tokens as a trained vocabulary does
    within a factor of two, without shipping one.
    """
    by_id = {token_id: token for token, token_id in SPECIALS.items()}
    tokens = [by_id.get(index, f"[unused{index}]") for index in range(104)]
    signs = [chr(code) for code in range(33, 127) if not chr(code).isupper()]
    signs += [chr(code) for code in range(161, 383) if chr(code).lower() == chr(code)]
    tokens += signs + ["##" + sign for sign in signs]
    pairs = ["".join(pair) for pair in product(ascii_lowercase, repeat=2)]
    triples = ["".join(triple) for triple in product(ascii_lowercase, repeat=3)]
    tokens += COMMON + pairs + ["##" + pair for pair in pairs] + ["##" + triple for triple in triples]
    # Words begin more often with a vowel near the front; the rest of the room goes to such parts.
    triples.sort(key=lambda triple: (triple[1] not in "aeiouy", triple[0] not in "aeiouy"))
    tokens += [triple for triple in triples if triple not in set(COMMON)]
    unique = list(dict.fromkeys(tokens))[: CONFIG["vocab_size"]]
    return {token: index for index, token in enumerate(unique)}


def tokenizer(vocab):
    start, end = {"id": "[CLS]", "type_id": 0}, {"id": "[SEP]", "type_id": 0}
    first, second = {"id": "A", "type_id": 0}, {"id": "B", "type_id": 1}
    single = [{"SpecialToken": start}, {"Sequence": first}, {"SpecialToken": end}]
    named = {
        token: {"id": token, "ids": [SPECIALS[token]], "tokens": [token]} for token in ("[CLS]", "[SEP]")
    }
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [special_token(token_id, token) for token, token_id in SPECIALS.items()],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": single,
            "pair": single + [{"Sequence": second}, {"SpecialToken": {"id": "[SEP]", "type_id": 1}}],
            "special_tokens": named,
        },
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": vocab,
        },
    }


TOKENIZER_CONFIG = {
    "clean_up_tokenization_spaces": True,
    "cls_token": "[CLS]",
    "do_basic_tokenize": True,
    "do_lower_case": True,
    "mask_token": "[MASK]",
    "model_max_length": CONFIG["max_position_embeddings"],
    "pad_token": "[PAD]",
    "sep_token": "[SEP]",
    "strip_accents": None,
    "tokenize_chinese_chars": True,
    "tokenizer_class": "BertTokenizer",
    "unk_token": "[UNK]",
}

# ---------------------------------------------------------------- graph


def weight_shapes(config):
    hidden = config["hidden_size"]
    shapes = {
        "embeddings.word_embeddings.weight": (config["vocab_size"], hidden),
        "embeddings.position_embeddings.weight": (config["max_position_embeddings"], hidden),
        "embeddings.token_type_embeddings.weight": (config["type_vocab_size"], hidden),
        "embeddings.LayerNorm.weight": (hidden,),
        "embeddings.LayerNorm.bias": (hidden,),
    }
    return shapes | layer_shapes(config)


def layer_shapes(config):
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    # Matrices are kept as MatMul wants them, [in, out].
    sizes = {
        "attention.self.query": (hidden, hidden),
        "attention.self.key": (hidden, hidden),
        "attention.self.value": (hidden, hidden),
        "attention.output.dense": (hidden, hidden),
        "intermediate.dense": (hidden, inner),
        "output.dense": (inner, hidden),
    }
    shapes = {}
    for layer in range(config["num_hidden_layers"]):
        for name, (wide, out) in sizes.items():
            shapes[f"encoder.layer.{layer}.{name}.weight"] = (wide, out)
            shapes[f"encoder.layer.{layer}.{name}.bias"] = (out,)
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes[f"encoder.layer.{layer}.{name}.weight"] = (hidden,)
            shapes[f"encoder.layer.{layer}.{name}.bias"] = (hidden,)
    return shapes


class Encoder:
    def __init__(self, config, weights):
        self.graph = Graph()
        self.config = config
        self.weights = weights
        self.head_dim = config["hidden_size"] // config["num_attention_heads"]

    def weight(self, name):
        return self.graph.weight(name, self.weights[name])

    def linear(self, value, name):
        product_ = self.graph.op("MatMul", value, self.weight(f"{name}.weight"))
        return self.graph.op("Add", product_, self.weight(f"{name}.bias"))

    def norm(self, value, name, **extra):
        scale, bias = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        epsilon = self.config["layer_norm_eps"]
        return self.graph.op("LayerNormalization", value, scale, bias, axis=-1, epsilon=epsilon, **extra)

    def gelu(self, value):
        graph = self.graph
        # The form of PyTorch's exports, which runtimes know how to fuse.
        bell = graph.op("Erf", graph.op("Div", value, graph.float("root_two", 2**0.5)))
        product = graph.op("Mul", value, graph.op("Add", bell, graph.float("one", 1.0)))
        return graph.op("Mul", product, graph.float("half", 0.5))

    def embeddings(self):
        graph = self.graph
        length = graph.op("Gather", graph.op("Shape", "input_ids"), graph.int_scalar(1))
        places = graph.op("Range", graph.int_scalar(0), length, graph.int_scalar(1))
        words = graph.op("Gather", self.weight("embeddings.word_embeddings.weight"), "input_ids")
        types = graph.op("Gather", self.weight("embeddings.token_type_embeddings.weight"), "token_type_ids")
        positions = graph.op("Gather", self.weight("embeddings.position_embeddings.weight"), places)
        value = graph.op("Add", graph.op("Add", words, types), positions)
        return self.norm(value, "embeddings.LayerNorm")

    def bias(self):
        """0 for a token, a large negative number for padding; [batch, 1, 1, sequence]."""
        graph = self.graph
        present = graph.op("Cast", "attention_mask", to=TensorProto.BOOL)
        bias = graph.op("Where", present, graph.float("allowed", 0.0), graph.float("masked", MASKED))
        return graph.op("Unsqueeze", bias, graph.ints(1, 2))

    def heads(self, value, perm):
        shape = self.graph.ints(0, 0, self.config["num_attention_heads"], self.head_dim)
        return self.graph.op("Transpose", self.graph.op("Reshape", value, shape), perm=perm)

    def attention(self, value, prefix, bias=None):
        graph = self.graph
        query = self.heads(self.linear(value, f"{prefix}.attention.self.query"), [0, 2, 1, 3])
        key = self.heads(self.linear(value, f"{prefix}.attention.self.key"), [0, 2, 3, 1])
        content = self.heads(self.linear(value, f"{prefix}.attention.self.value"), [0, 2, 1, 3])
        scores = graph.op("Div", graph.op("MatMul", query, key), graph.float("scale", self.head_dim**0.5))
        shares = graph.op("Softmax", graph.op("Add", scores, bias) if bias else scores, axis=-1)
        mixed = graph.op("Transpose", graph.op("MatMul", shares, content), perm=[0, 2, 1, 3])
        mixed = graph.op("Reshape", mixed, graph.ints(0, 0, self.config["hidden_size"]))
        return self.linear(mixed, f"{prefix}.attention.output.dense")

    def layer(self, value, prefix, bias, **extra):
        graph = self.graph
        value = graph.op("Add", self.attention(value, prefix, bias), value)
        value = self.norm(value, f"{prefix}.attention.output.LayerNorm")
        inner = self.gelu(self.linear(value, f"{prefix}.intermediate.dense"))
        outer = graph.op("Add", self.linear(inner, f"{prefix}.output.dense"), value)
        return self.norm(outer, f"{prefix}.output.LayerNorm", **extra)

    def hidden_states(self, **extra):
        """The last layer's values; `extra` goes to its last node."""
        value, bias = self.embeddings(), self.bias()
        last = self.config["num_hidden_layers"] - 1
        for index in range(last):
            value = self.layer(value, f"encoder.layer.{index}", bias)
        return self.layer(value, f"encoder.layer.{last}", bias, **extra)

    def model(self, output, shape):
        tokens = ["batch_size", "sequence_length"]
        names = ("input_ids", "attention_mask", "token_type_ids")
        inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, tokens) for name in names]
        return self.graph.model("bert", inputs, [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)])

    def build(self):
        value = self.hidden_states(out="last_hidden_state")
        return self.model(value, ["batch_size", "sequence_length", self.config["hidden_size"]])


# ---------------------------------------------------------------- repository

CARD = """---
license: apache-2.0
library_name: sentence-transformers
pipeline_tag: sentence-similarity
tags:
  - sentence-transformers
  - feature-extraction
  - sentence-similarity
  - onnx
---

# Bench encoder

Random weights in the shape of all-MiniLM-L6-v2, made to measure load time and speed.
Its embeddings mean nothing.
"""


def write_sentence_files(folder):
    kinds = (("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize"))
    modules = [
        {"idx": index, "name": str(index), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for index, (path, kind) in enumerate(kinds)
    ]
    write_json(folder / "modules.json", modules)
    pooling = {
        "word_embedding_dimension": CONFIG["hidden_size"],
        "pooling_mode_cls_token": False,
        "pooling_mode_mean_tokens": True,
        "pooling_mode_max_tokens": False,
        "pooling_mode_mean_sqrt_len_tokens": False,
    }
    write_json(folder / "1_Pooling" / "config.json", pooling)
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": MAX_SEQUENCE, "do_lower_case": False})
    versions = {"sentence_transformers": "2.0.0", "transformers": "4.6.1", "pytorch": "1.8.1"}
    write_json(folder / "config_sentence_transformers.json", {"__version__": versions})


def write_tokenizer(folder):
    vocab = vocabulary()
    if len(vocab) != CONFIG["vocab_size"] or any(vocab[token] != index for token, index in SPECIALS.items()):
        raise SystemExit("the vocabulary does not have the size or the order it should have")
    write_json(folder / "tokenizer.json", tokenizer(vocab))
    write_json(folder / "tokenizer_config.json", TOKENIZER_CONFIG)
    names = {f"{name}_token": f"[{name.upper()}]" for name in ("cls", "mask", "pad", "sep", "unk")}
    write_json(folder / "special_tokens_map.json", names)
    (folder / "vocab.txt").write_text("\n".join(vocab) + "\n", encoding="utf-8")


def make(folder, weights_too=False):
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "config.json", CONFIG)
    write_tokenizer(folder)
    (folder / "README.md").write_text(CARD, encoding="utf-8")
    write_sentence_files(folder)
    weights = random_weights(weight_shapes(CONFIG), SEED)
    save_model(Encoder(CONFIG, weights).build(), folder / "onnx" / "model.onnx")
    if weights_too:
        # torch has layers as [out, in].
        turned = {name: array if "embeddings" in name else array.T for name, array in weights.items()}
        save_safetensors(turned, folder / "model.safetensors")
    report(folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="output folder")
    parser.add_argument("--weights", action="store_true", help="model.safetensors, too")
    given = parser.parse_args()
    make(given.folder, given.weights)
