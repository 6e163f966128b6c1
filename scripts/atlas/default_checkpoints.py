"""Prints, for each type and task of scripts/atlas/classes.json, a checkpoint of the class's default size without its numbers.

One line of JSON each: task, type, config (as config.json has it), tensors (name -> [dtype, shape]) and preprocessor, or the
error of the class. Nothing is allocated: models are made on torch's meta device.

Needs: pip install transformers==5.24.0 torch. Run from the repository root:
python scripts/atlas/default_checkpoints.py [TYPE ...] | node scripts/atlas/default-sizes.mjs
"""

import json
import signal
import sys
from pathlib import Path

import torch
import transformers
from transformers import CONFIG_MAPPING
from transformers.core_model_loading import revert_weight_conversion
from transformers.models.auto import feature_extraction_auto, image_processing_auto

DTYPES = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64", torch.bool: "BOOL"}
#: A class that is not made by then is given up
SECONDS = 120


def tensors_of(model):
    """Weights as save_pretrained writes them: one name of those that share a tensor."""
    tied = set(getattr(model, "all_tied_weights_keys", None) or {})
    state = {name: tensor for name, tensor in model.state_dict().items() if name not in tied}
    state = revert_weight_conversion(model, state)
    return {name: [DTYPES[tensor.dtype], list(tensor.shape)] for name, tensor in state.items()}


def processor_of(model_type):
    """Settings of the class that reads media, by its defaults; None for texts."""
    for names in (image_processing_auto.IMAGE_PROCESSOR_MAPPING_NAMES, feature_extraction_auto.FEATURE_EXTRACTOR_MAPPING_NAMES):
        # Variants with experts read media as the type without.
        found = names.get(model_type) or names.get(model_type.removesuffix("_moe"))
        found = found.get("pil") or found.get("torchvision") if isinstance(found, dict) else found
        for name in [found] if isinstance(found, str) else found or []:
            if name and hasattr(transformers, name):
                try:
                    return getattr(transformers, name)().to_dict()
                except (TypeError, ImportError):
                    continue
    return None


def checkpoint(task, model_type, class_name):
    config = CONFIG_MAPPING[model_type]()
    config.architectures = [class_name]
    with torch.device("meta"):
        model = getattr(transformers, class_name)(config)
    return {
        "config": json.loads(config.to_json_string()),
        "tensors": tensors_of(model),
        "preprocessor": processor_of(model_type),
    }


def give_up(*_):
    raise TimeoutError(f"not made in {SECONDS} s")


asked = set(sys.argv[1:])
signal.signal(signal.SIGALRM, give_up)
for task, types in json.loads(Path("scripts/atlas/classes.json").read_text())["tasks"].items():
    for model_type, class_name in types.items():
        if asked and model_type not in asked:
            continue
        signal.alarm(SECONDS)
        try:
            made = checkpoint(task, model_type, class_name)
        # Each class fails in its own way; the reason is the result.
        except Exception as error:
            made = {"error": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:200]}
        signal.alarm(0)
        print(json.dumps({"task": task, "type": model_type, **made}, default=str), flush=True)
