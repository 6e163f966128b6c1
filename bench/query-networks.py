"""Makes networks of real size with random weights that find objects and their masks by queries, and small classifiers of mixed layers:
python query-networks.py FOLDER [NAME...]

As image-networks.py otherwise. Needs transformers and torch.
"""

import sys
from pathlib import Path

import torch
from transformers import (
    ConvNextConfig,
    DeformableDetrConfig,
    DeformableDetrForObjectDetection,
    DeformableDetrImageProcessor,
    DFineConfig,
    DFineForObjectDetection,
    LevitConfig,
    LevitForImageClassification,
    LevitImageProcessor,
    Mask2FormerConfig,
    Mask2FormerForUniversalSegmentation,
    Mask2FormerImageProcessor,
    MaskFormerConfig,
    MaskFormerForInstanceSegmentation,
    MaskFormerImageProcessor,
    MobileViTConfig,
    MobileViTForImageClassification,
    MobileViTForSemanticSegmentation,
    MobileViTImageProcessor,
    PoolFormerConfig,
    PoolFormerForImageClassification,
    PoolFormerImageProcessor,
    ResNetConfig,
    RTDetrImageProcessor,
    SegformerImageProcessor,
    SwiftFormerConfig,
    SwiftFormerForImageClassification,
    SwinConfig,
    UperNetConfig,
    UperNetForSemanticSegmentation,
    ViTImageProcessor,
)

STAGES = ["stage1", "stage2", "stage3", "stage4"]


def labels(count):
    return {"id2label": {i: f"class {i}" for i in range(count)}}


def swin(width=96, depths=(2, 2, 6, 2), heads=(3, 6, 12, 24), window=7):
    return SwinConfig(embed_dim=width, depths=list(depths), num_heads=list(heads), window_size=window, out_features=STAGES)


def deformable_detr():
    backbone = ResNetConfig(out_features=STAGES[1:])
    config = DeformableDetrConfig(use_timm_backbone=False, use_pretrained_backbone=False, backbone=None, backbone_config=backbone, **labels(91))
    return DeformableDetrForObjectDetection(config), DeformableDetrImageProcessor()


def d_fine():
    return DFineForObjectDetection(DFineConfig(**labels(80))), RTDetrImageProcessor()


def maskformer(backbone):
    config = MaskFormerConfig(backbone_config=backbone, **labels(150))
    return MaskFormerForInstanceSegmentation(config), MaskFormerImageProcessor(size={"shortest_edge": 512, "longest_edge": 2048}, size_divisor=32)


def mask2former(backbone):
    config = Mask2FormerConfig(backbone_config=backbone, **labels(133))
    processor = Mask2FormerImageProcessor(size={"shortest_edge": 800, "longest_edge": 1333}, size_divisor=32)
    return Mask2FormerForUniversalSegmentation(config), processor


def upernet(backbone, auxiliary):
    config = UperNetConfig(backbone_config=backbone, auxiliary_in_channels=auxiliary, **labels(150))
    return UperNetForSemanticSegmentation(config), SegformerImageProcessor(size={"height": 512, "width": 512})


def mobilevit(model):
    return model(MobileViTConfig(**labels(1000))), MobileViTImageProcessor(size={"shortest_edge": 288}, crop_size={"height": 256, "width": 256})


NETWORKS = {
    "object-detection/deformable-detr": deformable_detr,
    "object-detection/d-fine-large": d_fine,
    "image-segmentation/maskformer-swin-tiny": lambda: maskformer(swin()),
    "image-segmentation/maskformer-swin-base": lambda: maskformer(swin(128, (2, 2, 18, 2), (4, 8, 16, 32), 12)),
    "image-segmentation/mask2former-swin-tiny": lambda: mask2former(swin()),
    "image-segmentation/upernet-swin-tiny": lambda: upernet(swin(), 384),
    "image-segmentation/upernet-convnext-tiny": lambda: upernet(ConvNextConfig(out_features=STAGES), 384),
    "image-segmentation/deeplab-mobilevit-small": lambda: (
        MobileViTForSemanticSegmentation(MobileViTConfig(image_size=512, output_stride=16, **labels(21))),
        MobileViTImageProcessor(size={"shortest_edge": 544}, crop_size={"height": 512, "width": 512}),
    ),
    "image-classification/mobilevit-small": lambda: mobilevit(MobileViTForImageClassification),
    "image-classification/poolformer-s12": lambda: (PoolFormerForImageClassification(PoolFormerConfig(**labels(1000))), PoolFormerImageProcessor()),
    "image-classification/levit-128s": lambda: (LevitForImageClassification(LevitConfig(**labels(1000))), LevitImageProcessor()),
    "image-classification/swiftformer-xs": lambda: (SwiftFormerForImageClassification(SwiftFormerConfig(**labels(1000))), ViTImageProcessor()),
}

folder, names = Path(sys.argv[1]), sys.argv[2:] or NETWORKS
for name in names:
    torch.manual_seed(0)
    model, processor = NETWORKS[name]()
    model.eval().save_pretrained(folder / name)
    processor.save_pretrained(folder / name)
