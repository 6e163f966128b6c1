"""Makes a random-weight Whisper of whisper-tiny.en's size, for benchmarks.

    python bench_whisper.py <output folder>

The folder has the layout of a hub repository: tokenizer, preprocessor,
onnx/encoder_model.onnx and onnx/decoder_model_merged.onnx. Its words mean nothing, and it
never ends by itself: a bench limits the number of new tokens.
Needs torch, transformers and optimum-onnx, whose exporter writes the two graphs:
BENCH_PYTHON names a Python that has them.
"""

import argparse
import shutil
import tempfile
from pathlib import Path

import bench_decoder
import torch
from graph_tools import report, special_token, write_json
from optimum.exporters.onnx import onnx_export_from_model
from transformers import GenerationConfig, WhisperConfig, WhisperFeatureExtractor, WhisperForConditionalGeneration

SEED = 23
VOCABULARY = 51864
END, START, NO_TIMES = 50256, 50257, 50362
# Times follow the last of them, one for each fiftieth of a second.
SPECIAL = {
    END: "<|endoftext|>", START: "<|startoftranscript|>", 50258: "<|translate|>", 50259: "<|transcribe|>", 50260: "<|startoflm|>",
    50360: "<|startofprev|>", 50361: "<|nospeech|>", NO_TIMES: "<|notimestamps|>",
}
CARD = """---
license: apache-2.0
library_name: transformers.js
pipeline_tag: automatic-speech-recognition
tags:
  - whisper
  - onnx
---

# Bench recogniser

Random weights in the shape of whisper-tiny.en, made to measure load time and speed.
Its text means nothing.
"""


def model():
    torch.manual_seed(SEED)
    # The defaults of the configuration are the sizes of whisper-tiny.
    config = WhisperConfig(
        vocab_size=VOCABULARY, bos_token_id=END, eos_token_id=END, pad_token_id=END, decoder_start_token_id=START,
        suppress_tokens=None, begin_suppress_tokens=None,
    )
    made = WhisperForConditionalGeneration(config).eval()
    with torch.no_grad():
        # Fresh weights give nearly equal scores; wider ones give a clear winner, which is never the end.
        made.proj_out.weight.normal_(std=0.05)
        made.proj_out.weight[END:] = 0
    made.generation_config = GenerationConfig(
        bos_token_id=END, eos_token_id=END, pad_token_id=END, decoder_start_token_id=START, is_multilingual=False,
        no_timestamps_token_id=NO_TIMES, max_length=448,
    )
    return made


def token_of(index):
    return SPECIAL.get(index) or (f"<|{(index - NO_TIMES - 1) * 0.02:.2f}|>" if index > NO_TIMES else f"<|extra{index}|>")


def write_tokenizer(folder):
    tokenizer = bench_decoder.tokenizer()
    names = sorted(tokenizer["model"]["vocab"], key=tokenizer["model"]["vocab"].get)[len(bench_decoder.SPECIALS) :]
    # Words of one's own for the rest of the vocabulary.
    words = names + [f"word{index}" for index in range(END - len(names))]
    tokenizer["model"]["vocab"] = {word: index for index, word in enumerate(words)}
    tokenizer["added_tokens"] = [special_token(index, token_of(index)) for index in range(END, VOCABULARY)]
    for token in tokenizer["added_tokens"]:
        token["special"] = token["id"] <= NO_TIMES
    tokenizer["post_processor"] = None
    write_json(folder / "tokenizer.json", tokenizer)
    end = SPECIAL[END]
    named = {f"{name}_token": end for name in ("bos", "eos", "pad", "unk")}
    write_json(folder / "tokenizer_config.json", {**named, "tokenizer_class": "WhisperTokenizer", "model_max_length": 1024})


def make(folder):
    (folder / "onnx").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as out:
        task = "automatic-speech-recognition-with-past"
        onnx_export_from_model(model(), Path(out), task=task, do_validation=False)
        for name in ("encoder_model", "decoder_model_merged"):
            shutil.move(Path(out) / f"{name}.onnx", folder / "onnx" / f"{name}.onnx")
        for name in ("config.json", "generation_config.json"):
            shutil.move(Path(out) / name, folder / name)
    WhisperFeatureExtractor().save_pretrained(folder)
    write_tokenizer(folder)
    (folder / "README.md").write_text(CARD, encoding="utf-8")
    report(folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="output folder")
    make(parser.parse_args().folder)
