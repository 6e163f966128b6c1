"""Makes a random-weight Llama decoder of 130 million parameters, for benchmarks.

    python bench_decoder.py <output folder> [--fused]

The folder has the layout of a hub repository: tokenizer and, under onnx/, the
decoder-only form with a key-value cache as model.onnx (fp32), model_quantized.onnx
(dynamic int8) and model_q4.onnx (MatMulNBits, blocks of 32). --fused writes graphs
with GroupQueryAttention. It costs as much to load and to run as a trained model of
its size; its text means nothing, and it almost never ends by itself, so a bench
must limit the number of new tokens.
"""

import argparse
from itertools import product
from pathlib import Path
from string import ascii_lowercase

import llama_graph
from graph_tools import random_weights, report, save_model, save_safetensors, special_token, write_json

SEED = 13
SPECIALS = ["<pad>", "<s>", "</s>"]
PAD, BOS, EOS = range(3)
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "attention_bias": False,
    "attention_dropout": 0.0,
    "bos_token_id": BOS,
    "eos_token_id": EOS,
    "head_dim": 64,
    "hidden_act": "silu",
    "hidden_size": 768,
    "initializer_range": 0.02,
    "intermediate_size": 2560,
    "max_position_embeddings": 1024,
    "mlp_bias": False,
    "model_type": "llama",
    "num_attention_heads": 12,
    "num_hidden_layers": 14,
    "num_key_value_heads": 4,
    "pad_token_id": PAD,
    "pretraining_tp": 1,
    "rms_norm_eps": 1e-5,
    "rope_scaling": None,
    "rope_theta": 10000.0,
    "tie_word_embeddings": False,
    "transformers_version": "4.57.6",
    "use_cache": True,
    "vocab_size": 16384,
}


def byte_letters():
    """The printable stand-in of every byte, in the order that byte-level BPE gives them."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [byte for byte in range(256) if byte not in plain]
    return [chr(byte) for byte in plain] + [chr(256 + index) for index in range(len(rest))]


def merges(room):
    """Pairs of letters, then triples, each also behind a blank as a word begins, until the room is used.

    Half of all tokens begin a word, as in trained vocabularies: some streamers wait for the next one.
    """
    blank = chr(256 + 32)
    pairs = list(product(ascii_lowercase, repeat=2))
    # Syllables first: they are what English text is made of.
    pairs.sort(key=lambda pair: (pair[0] in "aeiouy") == (pair[1] in "aeiouy"))
    made = [(blank, letter) for letter in ascii_lowercase]
    made += pairs
    made += [(blank + first, second) for first, second in pairs]
    made += [
        (start + first + second, third)
        for first, second in pairs
        for third in ascii_lowercase
        for start in (blank, "")
    ]
    return made[:room]


def tokenizer():
    letters = byte_letters()
    pairs = merges(CONFIG["vocab_size"] - len(SPECIALS) - len(letters))
    tokens = SPECIALS + letters + ["".join(pair) for pair in pairs]
    start = {"SpecialToken": {"id": SPECIALS[BOS], "type_id": 0}}
    parts = [{"Sequence": {"id": name, "type_id": index}} for index, name in enumerate("AB")]
    named = {SPECIALS[BOS]: {"id": SPECIALS[BOS], "ids": [BOS], "tokens": [SPECIALS[BOS]]}}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [special_token(index, token) for index, token in enumerate(SPECIALS)],
        "normalizer": None,
        "pre_tokenizer": byte_level,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [start, parts[0]],
            "pair": [start, parts[0], start, parts[1]],
            "special_tokens": named,
        },
        "decoder": byte_level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "vocab": {token: index for index, token in enumerate(tokens)},
            "merges": [" ".join(pair) for pair in pairs],
        },
    }


TOKENIZER_CONFIG = {
    "add_bos_token": True,
    "add_eos_token": False,
    "bos_token": SPECIALS[BOS],
    "clean_up_tokenization_spaces": False,
    "eos_token": SPECIALS[EOS],
    "model_max_length": CONFIG["max_position_embeddings"],
    "pad_token": SPECIALS[PAD],
    "padding_side": "left",
    "tokenizer_class": "PreTrainedTokenizerFast",
}


def weight_shapes(config):
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    queries = config["num_attention_heads"] * config["head_dim"]
    keys = config["num_key_value_heads"] * config["head_dim"]
    sizes = {
        "self_attn.q_proj": (queries, hidden),
        "self_attn.k_proj": (keys, hidden),
        "self_attn.v_proj": (keys, hidden),
        "self_attn.o_proj": (hidden, queries),
        "mlp.gate_proj": (inner, hidden),
        "mlp.up_proj": (inner, hidden),
        "mlp.down_proj": (hidden, inner),
        "input_layernorm": (hidden,),
        "post_attention_layernorm": (hidden,),
    }
    table = (config["vocab_size"], hidden)
    shapes = {"model.embed_tokens.weight": table, "model.norm.weight": (hidden,), "lm_head.weight": table}
    for layer in range(config["num_hidden_layers"]):
        shapes.update({f"model.layers.{layer}.{name}.weight": shape for name, shape in sizes.items()})
    return shapes


CARD = """---
license: apache-2.0
library_name: transformers.js
pipeline_tag: text-generation
tags:
  - llama
  - onnx
---

# Bench decoder

Random weights in the shape of a small Llama, made to measure load time and speed.
Its text means nothing.
"""


def bench_weights():
    return random_weights(weight_shapes(CONFIG), SEED)


def make(folder, fused, weights):
    # Here, so that others can have the tokenizer without what the quantizers need.
    import quantize

    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "config.json", CONFIG)
    generation = {"bos_token_id": BOS, "eos_token_id": EOS, "pad_token_id": PAD, "do_sample": False}
    write_json(folder / "generation_config.json", generation)
    write_json(folder / "tokenizer.json", tokenizer())
    write_json(folder / "tokenizer_config.json", TOKENIZER_CONFIG)
    (folder / "README.md").write_text(CARD, encoding="utf-8")
    graph = folder / "onnx" / "model.onnx"
    save_model(llama_graph.build(CONFIG, bench_weights(), fused), graph)
    quantize.to_int8(graph, folder / "onnx" / "model_quantized.onnx")
    quantize.to_int4(graph, folder / "onnx" / "model_q4.onnx")
    if weights:
        save_safetensors(bench_weights(), folder / "model.safetensors")
    report(folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="output folder")
    parser.add_argument("--fused", action="store_true", help="graphs with GroupQueryAttention")
    parser.add_argument("--weights", action="store_true", help="model.safetensors, too")
    given = parser.parse_args()
    make(given.folder, given.fused, given.weights)
