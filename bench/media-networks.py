"""Makes networks of real size for sounds and for pictures out of noise, as image-networks.py: python media-networks.py FOLDER [NAME...]

Tokenizers are those of the reference models. Run from the repository root. Needs transformers, diffusers and torch.
"""

import shutil
import sys
from pathlib import Path

import torch
from diffusers import AutoencoderKL, EulerDiscreteScheduler, UNet2DConditionModel
from transformers import (
    AutoConfig,
    CLIPTextConfig,
    CLIPTextModel,
    Wav2Vec2Config,
    Wav2Vec2ForCTC,
    WhisperConfig,
    WhisperFeatureExtractor,
    WhisperForConditionalGeneration,
)

FIXTURES = Path("test/fixtures/zoo-weights")


def copy(source, folder):
    """All but the weights."""
    for path in (FIXTURES / source / "repo").rglob("*"):
        if path.suffix != ".safetensors" and path.is_file():
            target = folder / path.relative_to(FIXTURES / source / "repo")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)


def whisper(folder):
    source = "automatic-speech-recognition/whisper-languages"
    copy(source, folder)
    config = WhisperConfig.from_pretrained(FIXTURES / source / "repo")
    config.update({
        "d_model": 768, "encoder_layers": 12, "decoder_layers": 12, "num_hidden_layers": 12, "encoder_ffn_dim": 3072, "decoder_ffn_dim": 3072,
        "encoder_attention_heads": 12, "decoder_attention_heads": 12, "num_mel_bins": 80, "max_source_positions": 1500, "max_target_positions": 448,
    })
    WhisperForConditionalGeneration(config).save_pretrained(folder)
    shutil.copy(FIXTURES / source / "repo/generation_config.json", folder)
    WhisperFeatureExtractor().save_pretrained(folder)


def wav2vec2(folder):
    source = "automatic-speech-recognition/w2v2-ctc-f32"
    copy(source, folder)
    own = AutoConfig.from_pretrained(FIXTURES / source / "repo")
    same = {name: getattr(own, name) for name in ("vocab_size", "pad_token_id", "feat_extract_norm", "do_stable_layer_norm")}
    Wav2Vec2ForCTC(Wav2Vec2Config(**same)).save_pretrained(folder)


def diffusion(folder):
    """Stable Diffusion with half the channels in its network of steps."""
    copy("text-to-image/sdxl", folder)
    for name in ("text_encoder_2", "tokenizer_2", "scheduler"):
        shutil.rmtree(folder / name)
    (folder / "model_index.json").write_text(
        '{"_class_name": "StableDiffusionPipeline", "vae": ["diffusers", "AutoencoderKL"], "text_encoder": ["transformers", "CLIPTextModel"], '
        '"tokenizer": ["transformers", "CLIPTokenizer"], "unet": ["diffusers", "UNet2DConditionModel"], '
        '"scheduler": ["diffusers", "EulerDiscreteScheduler"], "safety_checker": [null, null], "feature_extractor": [null, null], '
        '"image_encoder": [null, null], "requires_safety_checker": false}'
    )
    own = CLIPTextConfig.from_pretrained(folder / "text_encoder")
    own.update({"hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12, "num_hidden_layers": 12, "dtype": "float32"})
    CLIPTextModel(own).save_pretrained(folder / "text_encoder")
    unet = UNet2DConditionModel(sample_size=64, block_out_channels=(160, 320, 640, 640), cross_attention_dim=768, attention_head_dim=8)
    unet.save_pretrained(folder / "unet")
    blocks = {"down_block_types": ("DownEncoderBlock2D",) * 4, "up_block_types": ("UpDecoderBlock2D",) * 4}
    vae = AutoencoderKL(block_out_channels=(128, 256, 512, 512), layers_per_block=2, sample_size=512, latent_channels=4, **blocks)
    vae.save_pretrained(folder / "vae")
    EulerDiscreteScheduler(beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear").save_pretrained(folder / "scheduler")


NETWORKS = {
    "automatic-speech-recognition/whisper-small": whisper,
    "automatic-speech-recognition/wav2vec2-base": wav2vec2,
    "text-to-image/stable-diffusion-half": diffusion,
}

folder, names = Path(sys.argv[1]), sys.argv[2:] or NETWORKS
for name in names:
    torch.manual_seed(0)
    (folder / name).mkdir(parents=True, exist_ok=True)
    NETWORKS[name](folder / name)
