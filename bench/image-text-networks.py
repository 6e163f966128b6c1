"""Makes networks of real size with random weights that read or write texts beside pictures, and those that find masks:
python image-text-networks.py FOLDER [NAME...]

As image-networks.py otherwise; tokenizers have as many random tokens as those of the networks' publishers. Needs transformers, tokenizers and torch.
"""

import random
import string
import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import (
    BertTokenizerFast,
    BlipConfig,
    BlipForConditionalGeneration,
    BlipImageProcessor,
    CLIPConfig,
    CLIPImageProcessor,
    CLIPModel,
    GLPNConfig,
    GLPNForDepthEstimation,
    GLPNImageProcessor,
    GPT2Config,
    GroundingDinoConfig,
    GroundingDinoForObjectDetection,
    GroundingDinoImageProcessor,
    OwlViTConfig,
    OwlViTForObjectDetection,
    OwlViTImageProcessor,
    PreTrainedTokenizerFast,
    Sam2Config,
    Sam2ImageProcessorFast,
    Sam2Model,
    SamConfig,
    SamImageProcessor,
    SamModel,
    SiglipConfig,
    SiglipImageProcessor,
    SiglipModel,
    SwinConfig,
    ViltConfig,
    ViltForQuestionAnswering,
    ViltImageProcessor,
    VisionEncoderDecoderConfig,
    VisionEncoderDecoderModel,
    ViTConfig,
    ViTImageProcessor,
)

START, END = "<start>", "<end>"


def pairs(size, ends=True, **settings):
    """Byte pairs, a merge for each token beyond those of bytes."""
    draw = random.Random(1)
    known = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: i for i, token in enumerate([START, END, *known])}
    merges = []
    while len(vocabulary) < size:
        pair = draw.choice(known), draw.choice(known)
        token = "".join(pair)
        if len(token) < 10 and token not in vocabulary:
            vocabulary[token] = len(vocabulary)
            merges.append(pair)
            known.append(token)
    made = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    if ends:
        made.post_processor = processors.TemplateProcessing(single=f"{START} $A {END}", special_tokens=[(START, 0), (END, 1)])
    return PreTrainedTokenizerFast(tokenizer_object=made, bos_token=START, eos_token=END, pad_token=END, unk_token=END, **settings)


def pieces(size):
    """Pieces of words, as BERT's."""
    draw = random.Random(2)
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *string.ascii_lowercase, *(f"##{letter}" for letter in string.ascii_lowercase)]
    vocabulary = {token: i for i, token in enumerate(tokens)}
    while len(vocabulary) < size:
        word = "".join(draw.choices(string.ascii_lowercase, k=draw.randint(2, 8)))
        vocabulary.setdefault(word if draw.random() < 0.7 else f"##{word}", len(vocabulary))
    made = Tokenizer(models.WordPiece(vocab=vocabulary, unk_token="[UNK]"))
    made.normalizer, made.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return BertTokenizerFast(tokenizer_object=made, model_max_length=512)


ENDS = {"bos_token_id": 0, "eos_token_id": 1}


def clip():
    config = CLIPConfig(text_config=ENDS, vision_config={"patch_size": 32})
    return CLIPModel(config), CLIPImageProcessor(), pairs(49_408, model_max_length=77)


def siglip():
    return SiglipModel(SiglipConfig()), SiglipImageProcessor(), pairs(32_000, model_max_length=64)


def owlvit():
    config = OwlViTConfig(text_config={**ENDS, "max_position_embeddings": 16})
    return OwlViTForObjectDetection(config), OwlViTImageProcessor(), pairs(49_408, model_max_length=16)


def grounding_dino():
    backbone = SwinConfig(out_features=["stage2", "stage3", "stage4"])
    config = GroundingDinoConfig(backbone_config=backbone, text_config={"model_type": "bert"})
    return GroundingDinoForObjectDetection(config), GroundingDinoImageProcessor(), pieces(30_522)


def vilt():
    return ViltForQuestionAnswering(ViltConfig(num_labels=3129)), ViltImageProcessor(), pieces(30_522)


def vit_gpt2():
    decoder = GPT2Config(add_cross_attention=True, is_decoder=True)
    model = VisionEncoderDecoderModel(VisionEncoderDecoderConfig.from_encoder_decoder_configs(ViTConfig(), decoder))
    for settings in (model.config, model.generation_config):
        settings.decoder_start_token_id = settings.eos_token_id = settings.pad_token_id = 1
    return model, ViTImageProcessor(), pairs(50_257, ends=False, model_max_length=1024)


def blip():
    text = {"bos_token_id": 30_522, "sep_token_id": 3, "pad_token_id": 0, "eos_token_id": 3}
    return BlipForConditionalGeneration(BlipConfig(text_config=text, vision_config={})), BlipImageProcessor(), pieces(30_522)


def glpn():
    config = GLPNConfig(hidden_sizes=[64, 128, 320, 512], depths=[3, 8, 27, 3], decoder_hidden_size=64)
    return GLPNForDepthEstimation(config), GLPNImageProcessor()


NETWORKS = {
    "zero-shot-image-classification/clip-base-32": clip,
    "zero-shot-image-classification/siglip-base": siglip,
    "zero-shot-object-detection/owlvit-base-32": owlvit,
    "zero-shot-object-detection/grounding-dino-tiny": grounding_dino,
    "visual-question-answering/vilt": vilt,
    "image-to-text/vit-gpt2": vit_gpt2,
    "image-to-text/blip-base": blip,
    "mask-generation/sam-base": lambda: (SamModel(SamConfig()), SamImageProcessor()),
    "mask-generation/sam2.1-hiera-tiny": lambda: (Sam2Model(Sam2Config()), Sam2ImageProcessorFast()),
    "depth-estimation/glpn": glpn,
}

folder, names = Path(sys.argv[1]), sys.argv[2:] or NETWORKS
for name in names:
    torch.manual_seed(0)
    model, *files = NETWORKS[name]()
    model.eval().save_pretrained(folder / name)
    for each in files:
        each.save_pretrained(folder / name)
