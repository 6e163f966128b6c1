"""Tiny configurations of networks of texts that its classes' own fields do not make tiny, for tiny.py; beside those that do."""

LATENT = {"q_lora_rank": 16, "kv_lora_rank": 16, "qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "v_head_dim": 8, "head_dim": 8}
HYBRID = ["linear_attention", "full_attention"]
WINDOWS = {"sliding_window": 16, "layer_types": ["sliding_attention", "full_attention"]}
MAMBA = {"mamba_d_state": 8, "mamba_d_conv": 4, "mamba_expand": 2, "use_mamba_kernels": False}
INKLING = {
    **{"unpadded_vocab_size": 520, "head_dim": 8, "swa_num_attention_heads": 4, "swa_num_key_value_heads": 2, "swa_head_dim": 8},
    **{"num_key_value_heads": 2, "sliding_window_size": 16, "d_rel": 8, "rel_extent": 16, "moe_intermediate_size": 24},
    **{"layer_types": ["hybrid_sliding", "hybrid"], "n_layers_per_attn_res_block": 1, "mlp_layer_types": ["dense", "sparse"]},
}

BLT = {"hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 1, "intermediate_size": 48, "vocab_size": 520, "max_position_embeddings": 128}

#: More tokens than the sample of an export has, and fewer than its probes have
INDEX = {"index_topk": 16}

DECODERS = {
    **dict.fromkeys(["deepseek_v32", "glm_moe_dsa", "hy_v4"], INDEX),
    "axk1": {**LATENT, "n_group": 1, "topk_group": 1, "mlp_layer_types": ["dense", "sparse"]},
    "bailing_hybrid": {
        **LATENT,
        **{"n_group": 1, "topk_group": 1, "num_local_experts": 4, "layer_types": HYBRID, "mlp_layer_types": ["dense", "sparse"]},
        **{"first_k_dense_replace": 1, "layer_group_size": 2, "num_mtp_layers": 0},
    },
    "cohere_compass_text": {
        **{"layer_types": ["sliding_attention", "full_attention"], "sliding_window": 16},
        "rope_parameters": {name: {"rope_type": "default", "rope_theta": 10000.0} for name in WINDOWS["layer_types"]},
    },
    "cpmant": {"dim_head": 8, "dim_ff": 48, "position_bias_num_buckets": 16, "prompt_length": 4, "prompt_types": 4, "segment_types": 4},
    "dbrx": {
        "attn_config": {"kv_n_heads": 2, "rope_theta": 10000.0, "clip_qkv": 8.0},
        "ffn_config": {"ffn_hidden_size": 24, "hidden_size": 32, "moe_num_experts": 4, "moe_top_k": 2},
    },
    "dots3_note_text": {
        **{"mlp_layer_types": ["dense", "sparse"], "layer_types": ["indexed_attention", "sliding_attention"], "sliding_window": 16},
        **{**INDEX, "index_head_dim": 16, "index_n_heads": 2, "moe_shared_expert_intermediate_size": 24, "n_routed_experts": 4},
        **LATENT,
        **{"head_dim": 16, "swa_num_attention_heads": 4, "swa_num_key_value_heads": 4, "swa_q_lora_rank": 16, "swa_kv_lora_rank": 16},
        **{"swa_head_dim": 16, "swa_qk_nope_head_dim": 8, "swa_v_head_dim": 8},
    },
    "blt": {
        **{"vocab_size": 520, "encoder_hash_byte_group_vocab": 64, "encoder_hash_byte_group_size": [3, 4], "max_patch_length": 8},
        **{"patcher_config": BLT, "encoder_config": {**BLT, "cross_attn_k": 2}, "decoder_config": {**BLT, "cross_attn_k": 2}},
        "global_config": {**BLT, "num_hidden_layers": 2},
    },
    "dory": {
        **{**WINDOWS, "layer_types": 2 * WINDOWS["layer_types"], "num_hidden_layers": 4, "n_input_layers": 1},
        **{"n_recurrent_layers": 2, "n_output_layers": 1, "n_recurrent_loops": 2, "head_dim": 8, "num_key_value_heads": 2},
    },
    "flint": {**WINDOWS, "head_dim": 8, "num_key_value_heads": 2, "mlp_only_layers": [0]},
    "inkling2_text": INKLING,
    "inkling2_loop_text": {
        **INKLING,
        "num_hidden_layers": 3,
        "layer_types": ["hybrid_sliding", "hybrid", "hybrid"],
        "mlp_layer_types": ["dense", "sparse", "sparse"],
        "loop_layer_index_start": 1,
        "loop_layer_index_end": 2,
        "loop_num_passes": 2,
        "loop_gate_rank": 8,
    },
    "inkling_text": INKLING,
    "jamba": {**MAMBA, "mamba_dt_rank": 8, "attn_layer_period": 2, "attn_layer_offset": 1, "num_key_value_heads": 2},
    "kolibri1": {**WINDOWS, "head_dim": 8, "num_key_value_heads": 2},
    "longcat_flash": {
        **{**LATENT, "num_layers": 2, "ffn_hidden_size": 48, "expert_ffn_hidden_size": 24, "zero_expert_num": 2, "moe_topk": 2},
        "qk_head_dim": 16,
    },
    "qwen4_exp_text": {
        **{"layer_types": ["linear_attention", "indexed_attention"], "linear_key_head_dim": 8, "linear_value_head_dim": 8},
        **{"linear_num_key_heads": 2, "linear_num_value_heads": 4, "hc_lowrank": 8, "hc_count": 2, "head_dim": 8},
        **{"indexer_n_heads": 2, "indexer_kv_heads": 1, "indexer_head_dim": 8, "indexer_budget": 16, "indexer_compress_ratio": 2},
    },
    "recurrent_gemma": {
        **{"num_hidden_layers": 3, "lru_width": 32, "attention_window_size": 64, "head_dim": 8},
        "block_types": ["recurrent", "recurrent", "attention"],
    },
    "xlstm": {
        **{"embedding_dim": 32, "num_blocks": 2, "num_heads": 4, "chunk_size": 64, "autocast_kernel_dtype": "float32"},
        **{"ffn_round_up_to_multiple_of": 8, "qk_dim_factor": 1.0},
    },
    "zamba": {
        **{**MAMBA, "attention_hidden_size": 64, "attention_head_dim": 16, "mamba_dt_rank": 8, "n_mamba_heads": 2},
        **{"layers_block_type": ["linear_attention", "hybrid", "hybrid"], "num_hidden_layers": 3},
    },
    "zamba2": {
        **{**MAMBA, "n_mamba_heads": 4, "mamba_headdim": 16, "chunk_size": 8, "adapter_rank": 4},
        **{"layers_block_type": ["linear_attention", "hybrid", "hybrid"], "num_hidden_layers": 3},
    },
    "zaya": {"num_experts_per_tok": 1, "head_dim": 8, "num_key_value_heads": 2, "router_hidden_size": 16, "layer_types": ["hybrid", "hybrid"]},
}
