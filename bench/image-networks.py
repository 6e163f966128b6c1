"""Makes networks of real size with random weights, as `save_pretrained` writes them: python image-networks.py FOLDER [NAME...]

What memory takes does not depend on the values of weights. Needs transformers and torch.
"""

import sys
from pathlib import Path

import torch
from transformers import (
    BeitConfig,
    BeitForImageClassification,
    BeitImageProcessor,
    ConvNextConfig,
    ConvNextForImageClassification,
    ConvNextImageProcessor,
    DepthAnythingConfig,
    DepthAnythingForDepthEstimation,
    DetrConfig,
    DetrForObjectDetection,
    DetrImageProcessor,
    Dinov2Config,
    DPTConfig,
    DPTForDepthEstimation,
    DPTImageProcessor,
    MobileNetV2Config,
    MobileNetV2ForImageClassification,
    MobileNetV2ImageProcessor,
    ResNetConfig,
    ResNetForImageClassification,
    SegformerConfig,
    SegformerForSemanticSegmentation,
    SegformerImageProcessor,
    SwinConfig,
    SwinForImageClassification,
    ViTConfig,
    ViTForImageClassification,
    ViTImageProcessor,
    YolosConfig,
    YolosForObjectDetection,
    YolosImageProcessor,
)


def labels(count):
    return {"id2label": {i: f"class {i}" for i in range(count)}}


def detr():
    backbone = ResNetConfig(out_features=["stage4"])
    config = DetrConfig(use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, backbone_config=backbone, **labels(91))
    return DetrForObjectDetection(config), DetrImageProcessor()


def yolos():
    config = YolosConfig(hidden_size=384, num_attention_heads=6, intermediate_size=1536, num_hidden_layers=12,
                         image_size=[800, 1344], use_mid_position_embeddings=False, **labels(91))
    return YolosForObjectDetection(config), YolosImageProcessor()


def segformer(hidden, depths, decoder):
    config = SegformerConfig(hidden_sizes=hidden, depths=depths, decoder_hidden_size=decoder, **labels(150))
    return SegformerForSemanticSegmentation(config), SegformerImageProcessor()


def depth_anything():
    backbone = Dinov2Config(hidden_size=384, num_attention_heads=6, image_size=518, patch_size=14, reshape_hidden_states=False,
                            out_indices=[9, 10, 11, 12], apply_layernorm=True)
    config = DepthAnythingConfig(backbone_config=backbone, reassemble_hidden_size=384, patch_size=14,
                                 neck_hidden_sizes=[48, 96, 192, 384], fusion_hidden_size=64, head_hidden_size=32)
    processor = DPTImageProcessor(size={"height": 518, "width": 518}, keep_aspect_ratio=True, ensure_multiple_of=14)
    return DepthAnythingForDepthEstimation(config), processor


def dpt():
    config = DPTConfig(is_hybrid=False, image_size=384, backbone_out_indices=[2, 5, 8, 11])
    return DPTForDepthEstimation(config), DPTImageProcessor(size={"height": 384, "width": 384})


def vit():
    return ViTForImageClassification(ViTConfig(**labels(1000))), ViTImageProcessor()


def resnet():
    return ResNetForImageClassification(ResNetConfig(**labels(1000))), ConvNextImageProcessor(size={"shortest_edge": 224})


def convnext():
    config = ConvNextConfig(hidden_sizes=[128, 256, 512, 1024], depths=[3, 3, 27, 3], **labels(1000))
    return ConvNextForImageClassification(config), ConvNextImageProcessor(size={"shortest_edge": 384})


def swin():
    return SwinForImageClassification(SwinConfig(**labels(1000))), ViTImageProcessor()


def beit():
    config = BeitConfig(image_size=384, use_relative_position_bias=True, **labels(1000))
    processor = BeitImageProcessor(size={"height": 384, "width": 384}, do_center_crop=False)
    return BeitForImageClassification(config), processor


def mobilenet():
    return MobileNetV2ForImageClassification(MobileNetV2Config(**labels(1001))), MobileNetV2ImageProcessor()


NETWORKS = {
    "object-detection/detr-resnet-50": detr,
    "object-detection/yolos-small": yolos,
    "image-segmentation/segformer-b0": lambda: segformer([32, 64, 160, 256], [2, 2, 2, 2], 256),
    "image-segmentation/segformer-b2": lambda: segformer([64, 128, 320, 512], [3, 4, 6, 3], 768),
    "depth-estimation/depth-anything-small": depth_anything,
    "depth-estimation/dpt": dpt,
    "image-classification/vit-base": vit,
    "image-classification/resnet-50": resnet,
    "image-classification/convnext-base-384": convnext,
    "image-classification/swin-tiny": swin,
    "image-classification/beit-base-384": beit,
    "image-classification/mobilenet-v2": mobilenet,
}

folder, names = Path(sys.argv[1]), sys.argv[2:] or NETWORKS
for name in names:
    torch.manual_seed(0)
    model, processor = NETWORKS[name]()
    model.eval().save_pretrained(folder / name)
    processor.save_pretrained(folder / name)
