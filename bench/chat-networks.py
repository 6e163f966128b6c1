"""Makes chats with random weights whose encoders of media are as wide as real ones, with few layers: python chat-networks.py FOLDER [NAME...]

Tokenizers and templates are those of the reference models. Run from the repository root. Needs transformers and torch.
"""

import json
import shutil
import sys
from pathlib import Path

import torch
from transformers import AutoConfig, AutoModelForImageTextToText, Qwen2AudioForConditionalGeneration

FIXTURES = Path("test/fixtures/zoo-weights")
LAYERS = 4
TEXT = {
    "hidden_size": 2048, "intermediate_size": 6144, "num_hidden_layers": LAYERS, "num_attention_heads": 16, "num_key_value_heads": 8,
    "head_dim": 128, "layer_types": ["full_attention"] * LAYERS, "max_position_embeddings": 32768,
}
WIDE = {"hidden_size": 1024, "intermediate_size": 4096, "num_attention_heads": 16, "num_hidden_layers": LAYERS, "head_dim": 64}
SIGLIP = {"hidden_size": 1152, "intermediate_size": 4304, "num_attention_heads": 16, "num_hidden_layers": LAYERS, "patch_size": 14}


def changed(given, path, **changes):
    content = json.loads((given / path).read_text())
    content.update(changes)
    (given / path).write_text(json.dumps(content))


def make(folder, source, model=AutoModelForImageTextToText, *, own=None, text=None, processing=None, **parts):
    repo = FIXTURES / source / "repo"
    for path in repo.iterdir():
        if path.suffix != ".safetensors":
            shutil.copy(path, folder)
    content = json.loads((repo / "config.json").read_text())
    content["text_config"].update({**TEXT, **(text or {})})
    for name, changes in parts.items():
        content[name].update(changes)
    content.update(own or {})
    (folder / "config.json").write_text(json.dumps(content))
    config = AutoConfig.from_pretrained(folder)
    made = model.from_config(config) if hasattr(model, "from_config") else model(config)
    made.to(torch.bfloat16).save_pretrained(folder)
    # As it was written; transformers adds what only it reads.
    shutil.copy(repo / "generation_config.json", folder)
    changed(folder, "preprocessor_config.json", **(processing or {}))


def qwen3_vl(folder):
    vision = {
        "hidden_size": 1024, "intermediate_size": 4096, "num_heads": 16, "depth": LAYERS, "patch_size": 16, "out_hidden_size": 2048,
        "num_position_embeddings": 2304, "deepstack_visual_indexes": [0, 1, 2],
    }
    text = {"rope_scaling": {"mrope_interleaved": True, "mrope_section": [24, 20, 20], "rope_type": "default"}}
    processing = {"patch_size": 16, "size": {"shortest_edge": 65536, "longest_edge": 16777216}, "min_pixels": 65536, "max_pixels": 16777216}
    make(folder, "video-text-to-text/qwen3-vl", text=text, vision_config=vision, processing=processing)


def internvl(folder):
    vision = {**WIDE, "image_size": [448, 448], "patch_size": [14, 14]}
    processing = {"size": {"height": 448, "width": 448}, "crop_to_patches": True, "max_patches": 12}
    make(folder, "video-text-to-text/internvl", own={"image_seq_length": 256}, vision_config=vision, processing=processing)
    if (folder / "processor_config.json").exists():
        changed(folder, "processor_config.json", image_seq_length=256)


def pixtral(folder):
    vision = {**WIDE, "image_size": 1024, "patch_size": 16}
    processing = {"patch_size": {"height": 16, "width": 16}, "size": {"longest_edge": 1024}}
    make(folder, "image-text-to-text/pixtral", vision_config=vision, processing=processing)
    changed(folder, "processor_config.json", patch_size=16)


def mistral3(folder):
    vision = {**WIDE, "image_size": 1540, "patch_size": 14}
    processing = {"patch_size": {"height": 14, "width": 14}, "size": {"longest_edge": 1540}}
    make(folder, "image-text-to-text/mistral3", vision_config=vision, processing=processing)
    changed(folder, "processor_config.json", patch_size=14)


def aya_vision(folder):
    processing = {"size": {"height": 364, "width": 364}, "crop_to_patches": True, "max_patches": 12}
    make(folder, "image-text-to-text/aya-vision", vision_config={**SIGLIP, "image_size": 364}, processing=processing)
    changed(folder, "processor_config.json", img_size=364, patch_size=28)


def paligemma2(folder):
    text = {"hidden_size": 2304, "intermediate_size": 9216, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256,
            "query_pre_attn_scalar": 256, "layer_types": ["sliding_attention", "full_attention"] * (LAYERS // 2), "sliding_window": 4096,
            "num_image_tokens": 1024}
    vision = {**SIGLIP, "image_size": 448, "projection_dim": 2304}
    processing = {"size": {"height": 448, "width": 448}, "image_seq_length": 1024}
    make(folder, "image-text-to-text/paligemma2", own={"hidden_size": 2048, "projection_dim": 2304}, text=text, vision_config=vision,
         processing=processing)


def qwen2_audio(folder):
    sounds = {"d_model": 1280, "encoder_attention_heads": 20, "encoder_ffn_dim": 5120, "encoder_layers": LAYERS, "num_hidden_layers": LAYERS,
              "num_mel_bins": 128, "max_source_positions": 1500}
    processing = {"chunk_length": 30, "feature_size": 128, "n_samples": 480000, "nb_max_frames": 3000}
    make(folder, "audio-text-to-text/qwen2-audio", Qwen2AudioForConditionalGeneration, audio_config=sounds, processing=processing)


NETWORKS = {
    "image-text-to-text/qwen3-vl": qwen3_vl,
    "image-text-to-text/internvl": internvl,
    "image-text-to-text/pixtral": pixtral,
    "image-text-to-text/mistral3": mistral3,
    "image-text-to-text/aya-vision": aya_vision,
    "image-text-to-text/paligemma2": paligemma2,
    "audio-text-to-text/qwen2-audio": qwen2_audio,
}

folder, names = Path(sys.argv[1]), sys.argv[2:] or NETWORKS
for name in names:
    torch.manual_seed(0)
    (folder / name).mkdir(parents=True, exist_ok=True)
    NETWORKS[name](folder / name)
