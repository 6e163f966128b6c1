"""
Writes what every configuration class of the installed transformers takes for fields that a file leaves out.
Usage: python dump.py OUT.json, once with transformers 4.57.6 and once with 5.24.0; then node merge.mjs. Needs no torch.
"""
import inspect
import json
import logging
import sys
import warnings

import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING, CONFIG_MAPPING_NAMES

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
BASE = getattr(transformers, "PretrainedConfig", None) or transformers.PreTrainedConfig


def classes():
    """Every configuration class of the modules that the library maps model types to; the mapped ones come first."""
    for name in list(CONFIG_MAPPING_NAMES):
        try:
            cls = CONFIG_MAPPING[name]
        except Exception:
            continue
        yield name, cls
        for other in vars(inspect.getmodule(cls)).values():
            is_own = inspect.isclass(other) and issubclass(other, BASE) and other.__module__ == cls.__module__
            if is_own and getattr(other, "model_type", ""):
                yield other.model_type, other


def main() -> None:
    types: dict[str, dict] = {}
    for name, cls in classes():
        if name in types:
            continue
        try:
            types[name] = {"defaults": cls().to_dict(), "aliases": dict(getattr(cls, "attribute_map", None) or {})}
        except Exception:
            continue
    found = {"version": transformers.__version__, "base": BASE().to_dict(), "types": types}
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(found, file, default=str, sort_keys=True)


if __name__ == "__main__":
    main()
