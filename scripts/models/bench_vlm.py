"""Makes a random-weight model of chats about pictures, of the size of SmolVLM-256M, for benchmarks.

    python bench_vlm.py <output folder>

The folder has the layout of a hub repository with three graphs under onnx/: vision_encoder (SigLIP-base for pictures of
512 pixels, 64 features each), embed_tokens and decoder_model_merged (30 narrow layers); 230 million parameters, about
900 MB, fp32. It costs as much to load and to run as a trained model of its size; its text means nothing, and it almost
never ends by itself. Needs numpy and onnx only.
"""

import argparse
from pathlib import Path

import bench_decoder
import bench_encoder
import bench_vit
import llama_graph
from graph_tools import random_weights, report, save_model, special_token, write_json
from onnx import TensorProto, helper

SEED = 31
EDGE = 512
SCALE = 4
TEXT = {
    **bench_decoder.CONFIG,
    "hidden_size": 576,
    "intermediate_size": 1536,
    "max_position_embeddings": 8192,
    "num_attention_heads": 9,
    "num_hidden_layers": 30,
    "num_key_value_heads": 3,
}
VISION = {
    "hidden_act": "gelu_pytorch_tanh",
    "hidden_size": 768,
    "image_size": EDGE,
    "intermediate_size": 3072,
    "layer_norm_eps": 1e-6,
    "model_type": "idefics3_vision",
    "num_attention_heads": 12,
    "num_channels": 3,
    "num_hidden_layers": 12,
    "patch_size": 16,
}
MARKS = ["<image>", "<fake_token_around_image>", "<global-img>", "<end_of_utterance>"]
FEATURES = (EDGE // VISION["patch_size"] // SCALE) ** 2
TEMPLATE = (
    "{% for message in messages %}{{ message['role'] }}: {% for block in message['content'] %}"
    "{% if block['type'] == 'image' %}<image>{% else %}{{ block['text'] }}{% endif %}{% endfor %}<end_of_utterance>\n"
    "{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}"
)
PROCESSOR = {
    "do_convert_rgb": True,
    # Most servers of small machines switch it off: each square costs as much as the whole picture.
    "do_image_splitting": False,
    "do_normalize": True,
    "do_pad": True,
    "do_rescale": True,
    "do_resize": True,
    "image_mean": [0.5, 0.5, 0.5],
    "image_processor_type": "Idefics3ImageProcessor",
    "image_std": [0.5, 0.5, 0.5],
    "max_image_size": {"longest_edge": EDGE},
    "processor_class": "Idefics3Processor",
    "resample": 1,
    "rescale_factor": 1 / 255,
    "size": {"longest_edge": EDGE},
}
CARD = """---
license: apache-2.0
library_name: transformers.js
pipeline_tag: image-text-to-text
tags:
  - idefics3
  - onnx
---

# Bench model of chats about pictures

Random weights in the shape of SmolVLM-256M, made to measure load time and speed.
Its text means nothing.
"""


class Vision(bench_vit.Vit):
    """A token for each patch; squares of SCALE x SCALE of them become one feature."""

    def embeddings(self):
        graph, config = self.graph, self.config
        hidden, patch = config["hidden_size"], config["patch_size"]
        pixels = graph.op("Reshape", "pixel_values", graph.ints(-1, config["num_channels"], EDGE, EDGE))
        kernel, bias = (self.weight(f"embeddings.patch_embeddings.{kind}") for kind in ("weight", "bias"))
        cells = graph.op("Conv", pixels, kernel, bias, kernel_shape=[patch, patch], strides=[patch, patch])
        tokens = graph.op("Transpose", graph.op("Reshape", cells, graph.ints(0, hidden, -1)), perm=[0, 2, 1])
        return graph.op("Add", tokens, self.weight("embeddings.position_embeddings"))

    def build(self):
        graph, hidden = self.graph, self.config["hidden_size"]
        value = self.embeddings()
        for index in range(self.config["num_hidden_layers"]):
            value = self.layer(value, f"encoder.layer.{index}")
        value = self.norm(value, "layernorm")
        side = EDGE // self.config["patch_size"] // SCALE
        value = graph.op("Reshape", value, graph.ints(-1, side, SCALE, side, SCALE, hidden))
        value = graph.op("Transpose", value, perm=[0, 1, 3, 2, 4, 5])
        value = graph.op("Reshape", value, graph.ints(-1, FEATURES, SCALE * SCALE * hidden))
        graph.op("MatMul", value, self.weight("connector.weight"), out="image_features")
        shape = ["batch_size", "squares", self.config["num_channels"], EDGE, EDGE]
        mask = ["batch_size", "squares", EDGE, EDGE]
        return graph.model(
            "vision",
            [
                helper.make_tensor_value_info("pixel_values", TensorProto.FLOAT, shape),
                # Squares are never padded here.
                helper.make_tensor_value_info("pixel_attention_mask", TensorProto.BOOL, mask),
            ],
            [helper.make_tensor_value_info("image_features", TensorProto.FLOAT, ["all", FEATURES, TEXT["hidden_size"]])],
        )


def vision_weights():
    hidden, patch = VISION["hidden_size"], VISION["patch_size"]
    shapes = {
        "embeddings.position_embeddings": (1, (EDGE // patch) ** 2, hidden),
        "embeddings.patch_embeddings.weight": (hidden, VISION["num_channels"], patch, patch),
        "embeddings.patch_embeddings.bias": (hidden,),
        **bench_encoder.layer_shapes(VISION),
        "layernorm.weight": (hidden,),
        "layernorm.bias": (hidden,),
        "connector.weight": (SCALE * SCALE * hidden, TEXT["hidden_size"]),
    }
    return random_weights(shapes, SEED)


def tokenizer():
    """The decoder's, with marks at its end."""
    made = bench_decoder.tokenizer()
    made["added_tokens"] += [special_token(TEXT["vocab_size"] + index, mark) for index, mark in enumerate(MARKS)]
    return made


def make(folder):
    folder.mkdir(parents=True, exist_ok=True)
    text = {**TEXT, "vocab_size": TEXT["vocab_size"] + len(MARKS)}
    config = {
        "architectures": ["Idefics3ForConditionalGeneration"],
        "image_token_id": TEXT["vocab_size"],
        "model_type": "idefics3",
        "scale_factor": SCALE,
        "text_config": text,
        "vision_config": VISION,
        "pad_token_id": bench_decoder.PAD,
        "tie_word_embeddings": False,
        "transformers_version": "4.57.6",
    }
    write_json(folder / "config.json", config)
    ends = {"bos_token_id": bench_decoder.BOS, "eos_token_id": bench_decoder.EOS, "pad_token_id": bench_decoder.PAD}
    write_json(folder / "generation_config.json", {**ends, "do_sample": False})
    write_json(folder / "preprocessor_config.json", PROCESSOR)
    write_json(folder / "processor_config.json", {"image_seq_len": FEATURES, "processor_class": "Idefics3Processor"})
    write_json(folder / "tokenizer.json", tokenizer())
    settings = {"model_max_length": TEXT["max_position_embeddings"], "chat_template": TEMPLATE, "add_bos_token": False}
    write_json(folder / "tokenizer_config.json", {**bench_decoder.TOKENIZER_CONFIG, **settings})
    (folder / "README.md").write_text(CARD, encoding="utf-8")
    weights = random_weights(bench_decoder.weight_shapes(text), SEED + 1)
    save_model(llama_graph.build_embeddings(text, weights), folder / "onnx" / "embed_tokens.onnx")
    save_model(llama_graph.build(text, weights, embedded=True), folder / "onnx" / "decoder_model_merged.onnx")
    save_model(Vision(VISION, vision_weights()).build(), folder / "onnx" / "vision_encoder.onnx")
    report(folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="output folder")
    make(parser.parse_args().folder)
