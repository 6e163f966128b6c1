"""Python's log-probabilities of texts under the file of Gemma 3 270M: gemma_answers.py FILE.gguf ADDRESS OUT.

Needs torch, transformers 4.57.6, accelerate and gguf. transformers computes in float32 over the dequantised weights. Its tokenizer
out of this file cuts words otherwise than the file's own, so ids come from a running server (`builder serve`, ADDRESS), whose
tokenizer equals llama.cpp's.
"""

import json
import sys
from pathlib import Path
from urllib.request import Request, urlopen

import torch
from transformers import AutoModelForCausalLM

TEXTS = [
    "The lighthouse at the end of the pier had been dark for eleven years when the town decided to light it again. "
    "Nobody could remember who had kept the key, and the council sent three people to look for it: a carpenter, a "
    "schoolteacher and a boy who said that he knew every drawer in the old harbour office.",
    "To convert a temperature from degrees Celsius to degrees Fahrenheit, multiply it by nine, divide the product by "
    "five and add thirty-two. Water therefore freezes at 32 degrees Fahrenheit and boils at 212 degrees Fahrenheit at "
    "sea level.",
    "def mean(values):\n    total = 0.0\n    for value in values:\n        total += value\n    return total / "
    "len(values)\n\n\ndef variance(values):\n    center = mean(values)\n    return sum((value - center) ** 2 for value "
    "in values) / len(values)\n",
]


def ids_of(address, text):
    body = json.dumps({"inputs": text}).encode()
    with urlopen(Request(f"{address}/tokenize", body, {"content-type": "application/json"})) as answer:
        return [token["id"] for token in json.load(answer)[0]]


def main(file, address, out):
    file = Path(file)
    model = AutoModelForCausalLM.from_pretrained(str(file.parent), gguf_file=file.name, dtype=torch.float32).eval()
    answers = []
    for text in TEXTS:
        ids = ids_of(address, text)
        with torch.no_grad():
            scores = model(torch.tensor([ids])).logits[0].log_softmax(-1)
        found = [float(scores[i - 1, ids[i]]) for i in range(1, len(ids))]
        answers.append({"text": text, "tokens": len(ids), "meanLogprob": round(sum(found) / len(found), 5)})
    Path(out).write_text(json.dumps(answers, indent=2) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
