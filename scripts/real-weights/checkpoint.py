"""A checkpoint as the hub has them: model.safetensors and JSON files in a folder. Needs numpy alone."""

import json
import struct
from pathlib import Path

import numpy as np

NAMES = {"float32": "F32", "float16": "F16", "uint16": "BF16"}


def as_bfloat16(values):
    """Bits of bfloat16, rounded to the nearest, ties to even."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def write_safetensors(path, tensors):
    """Tensors by name, in the order of their names; uint16 holds the bits of bfloat16."""
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, value in sorted(tensors.items()):
        end = offset + value.nbytes
        header[name] = {"dtype": NAMES[value.dtype.name], "shape": list(value.shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, value in sorted(tensors.items()):
            file.write(np.ascontiguousarray(value).tobytes())


def write_json(folder, **files):
    for name, content in files.items():
        (Path(folder) / f"{name}.json").write_text(json.dumps(content, ensure_ascii=False) + "\n")
