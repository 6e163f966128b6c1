"""Makes a random-weight encoder-decoder of t5-small's size, for benchmarks.

    python bench_seq2seq.py <output folder>

The folder has the layout of a hub repository: tokenizer, onnx/encoder_model.onnx and
onnx/decoder_model_merged.onnx. Its texts mean nothing and have 32 tokens at most.
Unlike its neighbours this needs torch, transformers and optimum-onnx, whose exporter
writes the two graphs: BENCH_PYTHON names a Python that has them.
"""

import argparse
import shutil
import tempfile
from pathlib import Path

import bench_decoder
import torch
from graph_tools import report, write_json
from optimum.exporters.onnx import onnx_export_from_model
from transformers import T5Config, T5ForConditionalGeneration

SEED = 19
PAD, _, EOS = range(3)
NEW_TOKENS = 32
CARD = """---
license: apache-2.0
library_name: transformers.js
pipeline_tag: summarization
tags:
  - t5
  - onnx
---

# Bench summarizer

Random weights in the shape of t5-small, made to measure load time and speed.
Its text means nothing.
"""


def model():
    torch.manual_seed(SEED)
    # The shape of t5-small; the tokenizer is that of the bench decoder.
    config = T5Config(
        vocab_size=bench_decoder.CONFIG["vocab_size"], pad_token_id=PAD, eos_token_id=EOS, decoder_start_token_id=PAD
    )
    made = T5ForConditionalGeneration(config).eval()
    # Fresh weights give nearly equal scores; a wider output layer gives a clear winner.
    made.get_output_embeddings().weight.data.normal_(std=0.05)
    made.generation_config.max_new_tokens = NEW_TOKENS
    return made


def write_tokenizer(folder):
    tokenizer = bench_decoder.tokenizer()
    end = {"SpecialToken": {"id": bench_decoder.SPECIALS[EOS], "type_id": 0}}
    first, second = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
    token = bench_decoder.SPECIALS[EOS]
    tokenizer["post_processor"] |= {
        "single": [first, end],
        "pair": [first, end, second, end],
        "special_tokens": {token: {"id": token, "ids": [EOS], "tokens": [token]}},
    }
    write_json(folder / "tokenizer.json", tokenizer)
    config = {**bench_decoder.TOKENIZER_CONFIG, "model_max_length": 512, "padding_side": "right"}
    write_json(folder / "tokenizer_config.json", config | {"add_bos_token": False})


def make(folder):
    (folder / "onnx").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as out:
        onnx_export_from_model(model(), Path(out), task="text2text-generation-with-past", do_validation=False)
        for name in ("encoder_model", "decoder_model_merged"):
            shutil.move(Path(out) / f"{name}.onnx", folder / "onnx" / f"{name}.onnx")
        for name in ("config.json", "generation_config.json"):
            shutil.move(Path(out) / name, folder / name)
    write_tokenizer(folder)
    (folder / "README.md").write_text(CARD, encoding="utf-8")
    report(folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="output folder")
    make(parser.parse_args().folder)
