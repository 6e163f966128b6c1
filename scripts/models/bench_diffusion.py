"""Makes a random-weight Stable Diffusion of modest size, for benchmarks.

    python bench_diffusion.py <output folder>

The folder has the layout of a diffusers repository exported to ONNX: a network of about 30
million parameters over latents of 32 x 32, whose step takes a few tenths of a second on two
cores, small text encoder and decoder, DDIM. Its pictures mean nothing. Needs torch,
transformers and diffusers: BENCH_PYTHON names a Python that has them. Run it from the
repository root: the tokenizer is that of a fixture.
"""

import argparse
import shutil
from pathlib import Path

import diffusers
import torch
import transformers
from graph_tools import report, write_json

SEED = 31
WIDTH, VOCABULARY, LATENT = 256, 630, 32
TOKENIZER = Path("test/fixtures/zoo/text-to-image/sd-ddim/repo/tokenizer")
INDEX = {
    "_class_name": "StableDiffusionPipeline",
    "_diffusers_version": "0.39.0",
    "scheduler": ["diffusers", "DDIMScheduler"],
    "text_encoder": ["transformers", "CLIPTextModel"],
    "tokenizer": ["transformers", "CLIPTokenizer"],
    "unet": ["diffusers", "UNet2DConditionModel"],
    "vae": ["diffusers", "AutoencoderKL"],
}
CARD = """---
license: apache-2.0
library_name: diffusers
pipeline_tag: text-to-image
tags:
  - onnx
---

# Bench painter

Random weights in the layout of Stable Diffusion, made to measure load time and speed.
Its pictures mean nothing.
"""


class Call(torch.nn.Module):
    def __init__(self, model, call):
        super().__init__()
        self.model, self.call = model, call

    def forward(self, *inputs):
        return self.call(self.model, *inputs)


def export(folder, model, call, inputs, output, dynamic):
    folder.mkdir(parents=True, exist_ok=True)
    torch.onnx.export(
        Call(model, call).eval(), tuple(inputs.values()), str(folder / "model.onnx"), input_names=list(inputs),
        output_names=[output], dynamic_axes=dynamic, opset_version=17, dynamo=False,
    )
    config = model.config.to_dict() if hasattr(model.config, "to_dict") else dict(model.config)
    write_json(folder / "config.json", {name: value for name, value in config.items() if not name.startswith("_use")})


def networks():
    torch.manual_seed(SEED)
    text = transformers.CLIPTextConfig(
        vocab_size=VOCABULARY, hidden_size=WIDTH, intermediate_size=4 * WIDTH, num_hidden_layers=4, num_attention_heads=4,
        bos_token_id=VOCABULARY - 2, eos_token_id=VOCABULARY - 1, pad_token_id=VOCABULARY - 1,
    )
    unet = diffusers.UNet2DConditionModel(
        sample_size=LATENT, cross_attention_dim=WIDTH, layers_per_block=1, block_out_channels=(96, 192, 384),
        down_block_types=("CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D"),
    )
    vae = diffusers.AutoencoderKL(
        block_out_channels=(16, 16, 16, 16), down_block_types=("DownEncoderBlock2D",) * 4,
        up_block_types=("UpDecoderBlock2D",) * 4, latent_channels=4, norm_num_groups=4, sample_size=8 * LATENT,
    )
    return transformers.CLIPTextModel(text).eval(), unet.eval(), vae.eval()


def make(folder):
    folder.mkdir(parents=True, exist_ok=True)
    text, unet, vae = networks()
    with torch.no_grad():
        ids = {"input_ids": torch.zeros(1, 77, dtype=torch.int32)}
        rows = {0: "batch"}
        states = lambda model, given: model(given).last_hidden_state
        export(folder / "text_encoder", text, states, ids, "last_hidden_state", {"input_ids": rows})
        inputs = {
            "sample": torch.randn(2, 4, LATENT, LATENT), "timestep": torch.tensor(1, dtype=torch.int64),
            "encoder_hidden_states": torch.randn(2, 77, WIDTH),
        }
        sides = {2: "height", 3: "width"}
        dynamic = {"sample": {**rows, **sides}, "encoder_hidden_states": rows}
        noise = lambda model, sample, time, context: model(sample, time, context, return_dict=False)[0]
        export(folder / "unet", unet, noise, inputs, "out_sample", dynamic)
        decode = lambda model, latents: model.decode(latents, return_dict=False)[0]
        latents = {"latent_sample": torch.randn(1, 4, LATENT, LATENT)}
        export(folder / "vae_decoder", vae, decode, latents, "sample", {"latent_sample": {**rows, **sides}})
    scheduler = diffusers.DDIMScheduler(
        beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear", clip_sample=False, set_alpha_to_one=False, steps_offset=1
    )
    scheduler.save_pretrained(folder / "scheduler")
    shutil.copytree(TOKENIZER, folder / "tokenizer", dirs_exist_ok=True)
    write_json(folder / "model_index.json", INDEX)
    (folder / "README.md").write_text(CARD, encoding="utf-8")
    report(folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="output folder")
    make(parser.parse_args().folder)
