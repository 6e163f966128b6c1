"""Makes a random-weight Llama of 217 million parameters with a vocabulary as large as Qwen's, for benchmarks.

    python bench_vocabulary.py <output folder>

More than half of the parameters are the table of 151,936 tokens, which is tied: what choosing among so many tokens
costs is seen beside a model of real size. Its text means nothing, and it almost never ends by itself.
"""

import argparse
from itertools import product
from pathlib import Path
from string import ascii_lowercase

import bench_decoder
from bench_decoder import CONFIG, TOKENIZER_CONFIG
from graph_tools import random_weights, report, save_safetensors, write_json

SHAPE = {"vocab_size": 151_936, "tie_word_embeddings": True}

CARD = """---
license: apache-2.0
pipeline_tag: text-generation
tags:
  - llama
---

# Bench vocabulary

Random weights, made to measure speed. Its text means nothing.
"""


def merges(room):
    """Words of four letters behind those of two and three, until the room is used."""
    made = shorter(room)
    blank = chr(256 + 32)
    words = ("".join(letters) for letters in product(ascii_lowercase, repeat=3))
    made += [
        (start + word, letter) for word in words for letter in ascii_lowercase for start in (blank, "")
    ]
    return made[:room]


shorter = bench_decoder.merges


def make(folder):
    CONFIG.update(SHAPE)
    bench_decoder.merges = merges
    folder.mkdir(parents=True, exist_ok=True)
    shapes = bench_decoder.weight_shapes(CONFIG)
    del shapes["lm_head.weight"]
    write_json(folder / "config.json", CONFIG)
    write_json(folder / "generation_config.json", {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0})
    write_json(folder / "tokenizer.json", bench_decoder.tokenizer())
    write_json(folder / "tokenizer_config.json", TOKENIZER_CONFIG)
    (folder / "README.md").write_text(CARD, encoding="utf-8")
    save_safetensors(random_weights(shapes, bench_decoder.SEED), folder / "model.safetensors")
    report(folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="output folder")
    make(parser.parse_args().folder)
