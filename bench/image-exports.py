"""Makes exports of networks of real size with random weights, for families without a graph of ours: python image-exports.py FOLDER [NAME...]

As image-networks.py otherwise. Needs transformers, torch and onnx.
"""

import sys
from pathlib import Path

import torch
from transformers import (
    DetrConfig,
    DetrForObjectDetection,
    DetrImageProcessor,
    Mask2FormerConfig,
    Mask2FormerForUniversalSegmentation,
    Mask2FormerImageProcessor,
    MaskFormerConfig,
    MaskFormerForInstanceSegmentation,
    MaskFormerImageProcessor,
    ResNetConfig,
    RTDetrConfig,
    RTDetrForObjectDetection,
    RTDetrImageProcessor,
    SegformerConfig,
    SegformerForSemanticSegmentation,
    SegformerImageProcessor,
    SwinConfig,
    ViTConfig,
    ViTForImageClassification,
    ViTImageProcessor,
    YolosConfig,
    YolosForObjectDetection,
    YolosImageProcessor,
)

ANY = {0: "rows", 2: "height", 3: "width"}
MASK = {0: "rows", 1: "height", 2: "width"}
BOXES = ["logits", "pred_boxes"]
MASKS = ["class_queries_logits", "masks_queries_logits"]


def labels(count):
    return {"id2label": {i: f"class {i}" for i in range(count)}}


def swin():
    return SwinConfig(out_features=["stage1", "stage2", "stage3", "stage4"])


def detr():
    config = DetrConfig(use_timm_backbone=False, use_pretrained_backbone=False, backbone=None,
                        backbone_config=ResNetConfig(out_features=["stage4"]), **labels(91))
    return DetrForObjectDetection(config), DetrImageProcessor(), (800, 1066), BOXES


def yolos():
    config = YolosConfig(hidden_size=384, num_attention_heads=6, intermediate_size=1536, num_hidden_layers=12,
                         image_size=[800, 1344], use_mid_position_embeddings=False, **labels(91))
    return YolosForObjectDetection(config), YolosImageProcessor(), (800, 1056), BOXES


def rt_detr():
    return RTDetrForObjectDetection(RTDetrConfig(**labels(80))), RTDetrImageProcessor(), (640, 640), BOXES


def segformer():
    return SegformerForSemanticSegmentation(SegformerConfig(**labels(150))), SegformerImageProcessor(), (512, 512), ["logits"]


def vit():
    return ViTForImageClassification(ViTConfig(**labels(1000))), ViTImageProcessor(), (224, 224), ["logits"]


def mask2former():
    config = Mask2FormerConfig(backbone_config=swin(), **labels(80))
    return Mask2FormerForUniversalSegmentation(config), Mask2FormerImageProcessor(), (800, 1088), MASKS


def maskformer():
    config = MaskFormerConfig(backbone_config=swin(), **labels(80))
    return MaskFormerForInstanceSegmentation(config), MaskFormerImageProcessor(), (800, 1088), MASKS


NETWORKS = {
    "object-detection/detr-resnet-50": detr,
    "object-detection/yolos-small": yolos,
    "object-detection/rt-detr": rt_detr,
    "image-segmentation/segformer-b0": segformer,
    "image-classification/vit-base": vit,
    "image-segmentation/mask2former-swin-tiny": mask2former,
    "image-segmentation/maskformer-swin-tiny": maskformer,
}


class Outputs(torch.nn.Module):
    """The named outputs of a model, in their order."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *feeds):
        found = self.model(**dict(zip(("pixel_values", "pixel_mask"), feeds)))
        return tuple(found[name] for name in self.names)


def export(model, edges, outputs, path):
    feeds = {"pixel_values": torch.randn(1, 3, *edges)}
    if model.config.model_type in ("detr", "mask2former", "maskformer"):
        feeds["pixel_mask"] = torch.ones(1, *edges, dtype=torch.int64)
    axes = {name: MASK if name == "pixel_mask" else ANY for name in feeds}
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.onnx.export(Outputs(model, outputs).eval(), tuple(feeds.values()), str(path), input_names=list(feeds), output_names=outputs,
                      dynamic_axes={**axes, **{name: {0: "rows"} for name in outputs}}, opset_version=17, dynamo=False)


folder, names = Path(sys.argv[1]), sys.argv[2:] or NETWORKS
for name in names:
    torch.manual_seed(0)
    model, processor, edges, outputs = NETWORKS[name]()
    model.eval().config.architectures = [type(model).__name__]
    model.config.save_pretrained(folder / name)
    processor.save_pretrained(folder / name)
    with torch.no_grad():
        export(model, edges, outputs, folder / name / "onnx/model.onnx")
