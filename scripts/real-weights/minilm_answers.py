"""Writes test/fixtures/real/minilm-answers.json: Python's vectors for the texts of test/fixtures/real/texts.json.

The network is the one that scripts/real-weights.sh fetches. Needs: transformers 4.57.6, torch, numpy. Run from the repository root.
Vectors are in base64 of float16, which moves a cosine by 1e-7.
"""

import base64
import json
import subprocess
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

fixtures = Path("test/fixtures/real")
texts = json.loads((fixtures / "texts.json").read_text())
folder = subprocess.run(["bash", "scripts/real-weights.sh"], check=True, capture_output=True, text=True).stdout.strip()
tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()


def vector(text):
    with torch.no_grad():
        hidden = model(**tokenizer(text, return_tensors="pt", truncation=True, max_length=256)).last_hidden_state
    return torch.nn.functional.normalize(hidden.mean(1), dim=1)[0].numpy()


vectors = [base64.b64encode(vector(text).astype(np.float16).tobytes()).decode() for text in texts]
(fixtures / "minilm-answers.json").write_text(json.dumps({"width": 384, "vectors": vectors}, indent=0) + "\n")
