"""Writes the bench decoder for llama.cpp: make_gguf.py FOLDER OUT gives OUT/fp32.gguf, q8.gguf and q4.gguf."""

import ctypes
import json
import sys
from pathlib import Path

import gguf
import llama_cpp

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts/models"))
from bench_decoder import CONFIG, bench_weights

LAYER_NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}
OTHER_NAMES = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}


def gguf_name(name):
    stem = name.removesuffix(".weight")
    if stem in OTHER_NAMES:
        return f"{OTHER_NAMES[stem]}.weight"
    _, _, layer, rest = stem.split(".", 3)
    return f"blk.{layer}.{LAYER_NAMES[rest]}.weight"


def interleaved(weight, heads):
    """llama.cpp turns neighbouring pairs of a head, transformers its two halves."""
    rows, columns = weight.shape
    return weight.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)


def converted(name, weight):
    if name.endswith("q_proj.weight"):
        return interleaved(weight, CONFIG["num_attention_heads"])
    if name.endswith("k_proj.weight"):
        return interleaved(weight, CONFIG["num_key_value_heads"])
    return weight


def add_tokenizer(writer, folder):
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    special = {token["id"] for token in tokenizer["added_tokens"]}
    tokens = sorted(tokenizer["model"]["vocab"], key=tokenizer["model"]["vocab"].get)
    kinds = [gguf.TokenType.CONTROL if i in special else gguf.TokenType.NORMAL for i in range(len(tokens))]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges(tokenizer["model"]["merges"])
    writer.add_bos_token_id(CONFIG["bos_token_id"])
    writer.add_eos_token_id(CONFIG["eos_token_id"])
    writer.add_pad_token_id(CONFIG["pad_token_id"])
    writer.add_add_bos_token(True)


def write(folder, target):
    writer = gguf.GGUFWriter(str(target), "llama")
    writer.add_context_length(CONFIG["max_position_embeddings"])
    writer.add_embedding_length(CONFIG["hidden_size"])
    writer.add_block_count(CONFIG["num_hidden_layers"])
    writer.add_feed_forward_length(CONFIG["intermediate_size"])
    writer.add_head_count(CONFIG["num_attention_heads"])
    writer.add_head_count_kv(CONFIG["num_key_value_heads"])
    writer.add_rope_dimension_count(CONFIG["head_dim"])
    writer.add_rope_freq_base(CONFIG["rope_theta"])
    writer.add_layer_norm_rms_eps(CONFIG["rms_norm_eps"])
    writer.add_vocab_size(CONFIG["vocab_size"])
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    add_tokenizer(writer, folder)
    for name, weight in bench_weights().items():
        writer.add_tensor(gguf_name(name), converted(name, weight))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def quantized(source, target, kind):
    params = llama_cpp.llama_model_quantize_default_params()
    params.ftype = kind
    done = llama_cpp.llama_model_quantize(str(source).encode(), str(target).encode(), ctypes.byref(params))
    if done != 0:
        raise SystemExit(f"llama.cpp could not write {target}")


if __name__ == "__main__":
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    write(folder, out / "fp32.gguf")
    quantized(out / "fp32.gguf", out / "q8.gguf", llama_cpp.LLAMA_FTYPE_MOSTLY_Q8_0)
    quantized(out / "fp32.gguf", out / "q4.gguf", llama_cpp.LLAMA_FTYPE_MOSTLY_Q4_0)
