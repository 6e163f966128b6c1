"""Tiny configurations of networks of pictures that are put together of others, for tiny.py."""

RESNET = {"model_type": "resnet", "embedding_size": 8, "hidden_sizes": [8, 12, 16, 24], "depths": [1, 1, 1, 1], "layer_type": "basic"}
HGNET = {
    **{"model_type": "hgnet_v2", "stem_channels": [3, 8, 8], "embedding_size": 8, "hidden_sizes": [16, 24, 32, 40]},
    **{"stage_in_channels": [8, 16, 24, 32], "stage_mid_channels": [8, 8, 8, 8], "stage_out_channels": [16, 24, 32, 40]},
    **{"stage_num_blocks": [1, 1, 1, 1], "stage_numb_of_layers": [2, 2, 2, 2], "depths": [1, 1, 1, 1]},
    "out_features": ["stage2", "stage3", "stage4"],
}
RT_DETR = {
    **{"backbone_config": HGNET, "encoder_hidden_dim": 32, "encoder_in_channels": [24, 32, 40], "encoder_ffn_dim": 48},
    **{"encoder_attention_heads": 4, "d_model": 32, "decoder_in_channels": [32, 32, 32], "decoder_ffn_dim": 48},
    **{"decoder_attention_heads": 4, "decoder_layers": 2, "num_queries": 8, "hidden_expansion": 0.5},
}
HEADS = {"hidden_size": 32, "num_attention_heads": 4}
STAGES = ["stage1", "stage2", "stage3", "stage4"]
BEIT = {
    **{"model_type": "beit", **HEADS, "num_hidden_layers": 4, "intermediate_size": 48, "image_size": 64, "patch_size": 16},
    **{"use_relative_position_bias": True, "reshape_hidden_states": False, "out_features": STAGES},
}
DINOV2 = {"model_type": "dinov2", **HEADS}
DINOV2_STAGES = {
    **DINOV2,
    **{"num_hidden_layers": 4, "image_size": 56, "patch_size": 14, "reshape_hidden_states": False, "out_features": STAGES},
}
DINOV2_PATCHES = {**DINOV2, "num_hidden_layers": 2, "image_size": 32, "patch_size": 8}
LW_VIT = {
    **{"model_type": "lw_detr_vit", **HEADS, "num_hidden_layers": 3, "image_size": 64, "pretrain_image_size": 64},
    **{"patch_size": 16, "window_block_indices": [0], "out_features": ["stage2", "stage3"], "num_windows": 4},
}
DETR = {"num_queries": 8, "encoder_layers": 2, "decoder_layers": 2, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48}

DETECTORS = {
    "lw_detr": {
        **{"backbone_config": LW_VIT, "projector_scale_factors": [1.0], "d_model": 32, "decoder_ffn_dim": 48},
        **{"decoder_layers": 2, "decoder_self_attention_heads": 4, "decoder_cross_attention_heads": 4, "num_queries": 8},
        **{"group_detr": 2, "hidden_expansion": 0.5, "c2f_num_blocks": 1},
    },
    "dab-detr": {
        **{"use_timm_backbone": False, "backbone": None, "backbone_config": {**RESNET, "out_features": ["stage4"]}},
        **{**DETR, "hidden_size": 32, "encoder_attention_heads": 4, "decoder_attention_heads": 4},
    },
    "deimv2": RT_DETR,
    "pp_doclayout_v2": {
        **{**RT_DETR, "class_thresholds": [0.3, 0.5, 0.5], "class_order": [2, 0, 1]},
        "reading_order_config": {
            **{"hidden_size": 32, "num_attention_heads": 4, "intermediate_size": 48, "num_hidden_layers": 2, "num_classes": 3},
            **{"coordinate_size": 6, "shape_size": 4, "relation_bias_embed_dim": 8, "global_pointer_head_size": 8},
        },
    },
    "pp_doclayout_v3": {
        **{**RT_DETR, "backbone_config": {**HGNET, "out_features": STAGES}, "encoder_layers": 1, "x4_feat_dim": 16},
        **{"mask_feature_channels": [16, 16], "num_prototypes": 8},
    },
    "pp_doclayout_v4": RT_DETR,
}

DEPTHS = {
    "zoedepth": {
        **{"backbone_config": BEIT, "neck_hidden_sizes": [16, 16, 16, 16], "fusion_hidden_size": 16},
        **{"bottleneck_features": 16, "num_relative_features": 8, "bin_embedding_dim": 16, "num_attractors": [4, 2, 2, 1]},
        "bin_configurations": [{"n_bins": 8, "min_depth": 0.001, "max_depth": 10.0, "name": "nyu"}],
    },
    "prompt_depth_anything": {
        **{"backbone_config": DINOV2_STAGES, "neck_hidden_sizes": [8, 12, 16, 24], "fusion_hidden_size": 16},
        **{"head_hidden_size": 8, "reassemble_hidden_size": 32},
    },
    "depth_pro": {
        **{"fusion_hidden_size": 16, "patch_size": 32, "intermediate_hook_ids": [1, 0], "intermediate_feature_dims": [16, 16]},
        **{"scaled_images_ratios": [0.5, 1.0], "scaled_images_overlap_ratios": [0.0, 0.2], "scaled_images_feature_dims": [16, 16]},
        **{"image_model_config": DINOV2_PATCHES, "patch_model_config": DINOV2_PATCHES, "fov_model_config": DINOV2_PATCHES},
        **{"use_fov_model": True, "num_fov_head_layers": 1},
    },
}

TIPS = {"model_type": "tipsv2_vision_model", **HEADS, "num_hidden_layers": 4, "image_size": 56, "patch_size": 14, "out_features": STAGES}
DINOV3 = {
    **{"model_type": "dinov3_vit", **HEADS, "num_hidden_layers": 4, "intermediate_size": 48, "image_size": 64, "patch_size": 16},
    **{"out_features": STAGES, "return_class_token": True, "reshape_hidden_states": True},
}
DEPTHS |= {
    "tipsv2_dpt": {
        **{"backbone_config": {**TIPS, "reshape_hidden_states": False}, "neck_hidden_sizes": [8, 12, 16, 24]},
        **{"fusion_hidden_size": 16, "num_depth_bins": 8},
    },
    "chmv2": {
        **{"backbone_config": DINOV3, "post_process_channels": [8, 12, 16, 24], "fusion_hidden_size": 16},
        **{"head_hidden_size": 8, "number_output_channels": 16},
    },
}

TEXT = {**HEADS, "num_hidden_layers": 2, "intermediate_size": 48, "max_position_embeddings": 80, "vocab_size": 420, "pad_token_id": 0}
EOMT = {
    **HEADS,
    "num_hidden_layers": 3,
    "intermediate_size": 48,
    "num_queries": 6,
    "num_blocks": 1,
    "num_upscale_blocks": 1,
    "image_size": 64,
    "patch_size": 16,
}
SEGMENTS = {
    "eomt": EOMT,
    "eomt_dinov3": EOMT,
    "sapiens2": {
        **{**HEADS, "num_hidden_layers": 2, "intermediate_size": 48, "image_size": 64, "patch_size": 16, "num_register_tokens": 2},
        **{
            "num_key_value_heads_per_layer": [4, 2],
            "num_key_value_attention_heads": 2,
            "num_first_full_attention_layers": 1,
            "num_last_full_attention_layers": 1,
        },
        "head_config": {"upsample_out_channels": [16, 8], "conv_out_channels": [8]},
        **{"out_indices": None, "out_features": ["stage2"]},
    },
}
PAIRS = {
    "align": {
        "text_config": TEXT,
        "vision_config": {"image_size": 64, "width_coefficient": 0.1, "depth_coefficient": 0.1},
        "projection_dim": 32,
    },
    "blip-2": {
        "vision_config": {**HEADS, "num_hidden_layers": 2, "intermediate_size": 48, "image_size": 32, "patch_size": 8, "initializer_range": 0.02},
        "qformer_config": {**TEXT, "encoder_hidden_size": 32, "use_qformer_text_input": True},
        "text_config": {"model_type": "opt", "hidden_size": 32, "ffn_dim": 48, "num_hidden_layers": 1, "num_attention_heads": 4, "vocab_size": 420},
        **{"num_query_tokens": 4, "image_text_hidden_size": 16},
    },
}

#: Processors of these types
PROCESSORS = {
    **dict.fromkeys(["deimv2"], "RTDetrImageProcessor"),
    **dict.fromkeys(["eomt", "eomt_dinov3"], "EomtImageProcessor"),
    **{"sapiens2": "Sapiens2ImageProcessor", "chmv2": "CHMv2ImageProcessor", "swin2sr": "Swin2SRImageProcessor"},
    "textnet": "TextNetImageProcessor",
    **{"tipsv2": "Tipsv2ImageProcessor", "tipsv2_dpt": "Tipsv2DptImageProcessor", "pixio": "BitImageProcessor"},
    **{"zoedepth": "ZoeDepthImageProcessor", "depth_pro": "DepthProImageProcessor"},
    **{f"pp_doclayout_v{n}": f"PPDocLayoutV{n}ImageProcessor" for n in (2, 3, 4)},
    "prompt_depth_anything": "PromptDepthAnythingImageProcessor",
}
