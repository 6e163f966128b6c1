"""Lays Gemma 3 270M out as a hub repository (bfloat16), out of its GGUF file or the folder of its parts: gemma.py FILE|PARTS OUT.

Needs numpy and gguf. The file is Q4_K_M, so four bits here come upon four bits.
"""

import hashlib
import sys
from pathlib import Path

from checkpoint import as_bfloat16, write_json, write_safetensors
from gguf import GGUFReader
from gguf.quants import dequantize

SUM = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
LAYERS = 18
NAMES = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "attn_norm": "input_layernorm",
    "post_attention_norm": "post_attention_layernorm",
    "ffn_norm": "pre_feedforward_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
ORDINARY, CONTROL, USER = 1, 3, 4


def name_of(name):
    if name == "token_embd.weight":
        return "model.embed_tokens.weight"
    if name == "output_norm.weight":
        return "model.norm.weight"
    _, layer, part, ending = name.split(".")
    return f"model.layers.{layer}.{NAMES[part]}.{ending}"


def tensor_of(tensor):
    values = dequantize(tensor.data, tensor.tensor_type)
    # The converter adds one to norms, which multiply with 1 + weight.
    return as_bfloat16(values - 1 if "norm" in tensor.name else values)


def tokenizer_of(pieces, types):
    """Merges are all ways to cut a piece into two others, the earliest pieces first: as the original was trained."""
    vocabulary = {piece: i for i, piece in enumerate(pieces)}
    ordinary = {piece for piece, kind in zip(pieces, types) if kind == ORDINARY}
    merges = []
    for piece in (one for one, kind in zip(pieces, types) if kind == ORDINARY and len(one) > 1):
        cuts = [(piece[:i], piece[i:]) for i in range(1, len(piece))]
        known = [pair for pair in cuts if pair[0] in ordinary and pair[1] in ordinary]
        merges += sorted(known, key=lambda pair: (vocabulary[pair[0]], vocabulary[pair[1]]))
    special = [
        {"id": i, "content": piece, "special": kind == CONTROL}
        | {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
        for i, (piece, kind) in enumerate(zip(pieces, types))
        if kind == CONTROL
    ]
    bos = {"SpecialToken": {"id": "<bos>", "type_id": 0}}
    text = [{"Sequence": {"id": part, "type_id": place}} for place, part in enumerate("AB")]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": special,
        "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        "pre_tokenizer": {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [bos, text[0]],
            "pair": [bos, *text],
            "special_tokens": {"<bos>": {"id": "<bos>", "ids": [2], "tokens": ["<bos>"]}},
        },
        "decoder": {
            "type": "Sequence",
            "decoders": [
                {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                {"type": "ByteFallback"},
                {"type": "Fuse"},
            ],
        },
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": "<unk>",
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": True,
            "byte_fallback": True,
            "ignore_merges": False,
            "vocab": vocabulary,
            "merges": [list(pair) for pair in merges],
        },
    }


CONFIG = {
    "architectures": ["Gemma3ForCausalLM"],
    "model_type": "gemma3_text",
    **{"attention_bias": False, "attention_dropout": 0.0},
    **{"attn_logit_softcapping": None, "final_logit_softcapping": None},
    **{"bos_token_id": 2, "eos_token_id": 1, "pad_token_id": 0},
    "head_dim": 256,
    "hidden_activation": "gelu_pytorch_tanh",
    "hidden_size": 640,
    "initializer_range": 0.02,
    "intermediate_size": 2048,
    "layer_types": ["full_attention" if i % 6 == 5 else "sliding_attention" for i in range(LAYERS)],
    "max_position_embeddings": 32768,
    **{"num_attention_heads": 4, "num_hidden_layers": LAYERS, "num_key_value_heads": 1},
    "query_pre_attn_scalar": 256,
    "rms_norm_eps": 1e-6,
    **{"rope_local_base_freq": 10000.0, "rope_scaling": None, "rope_theta": 1000000.0},
    "sliding_window": 512,
    "torch_dtype": "bfloat16",
    "transformers_version": "4.57.6",
    "use_bidirectional_attention": False,
    "use_cache": True,
    "vocab_size": 262144,
}


def files_of(parts):
    return [parts] if parts.is_file() else sorted(parts.glob("**/*.gguf.part*"), key=lambda path: path.name)


def main(parts, out):
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    whole = out / "whole.gguf"
    digest = hashlib.sha256()
    with open(whole, "wb") as file:
        for part in files_of(Path(parts)):
            content = part.read_bytes()
            digest.update(content)
            file.write(content)
    if digest.hexdigest() != SUM:
        raise SystemExit("the parts are not the file that they were")
    reader = GGUFReader(whole)
    write_safetensors(out / "model.safetensors", {name_of(t.name): tensor_of(t) for t in reader.tensors})
    fields = reader.fields
    pieces, types = fields["tokenizer.ggml.tokens"].contents(), fields["tokenizer.ggml.token_type"].contents()
    special = {"bos_token": "<bos>", "eos_token": "<eos>", "unk_token": "<unk>", "pad_token": "<pad>"}
    write_json(
        out,
        config=CONFIG,
        tokenizer=tokenizer_of(pieces, types),
        tokenizer_config={"tokenizer_class": "PreTrainedTokenizerFast", **special},
        generation_config={"bos_token_id": 2, "eos_token_id": 1, "pad_token_id": 0},
    )
    (out / "README.md").write_text("---\npipeline_tag: text-generation\nlibrary_name: transformers\n---\n")
    whole.unlink()


if __name__ == "__main__":
    main(*sys.argv[1:])
