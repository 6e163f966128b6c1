"""lm-eval's local-completions on a task of local files: the log-likelihoods of its `hf` model for the same checkpoint.

Usage: check.py '{"address": address, "key": key, "tokenizer": folder}'
Prints one line of JSON: client, call, and the error where it failed. The values are those of
`lm_eval --model hf --model_args pretrained=…/llama-bf16-tied/repo,dtype=float32` (lm-eval 0.4.13, torch on a CPU).
"""

import json
import os
import sys

GIVEN = json.loads(sys.argv[1])
os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", OPENAI_API_KEY=GIVEN["key"])
os.chdir(os.path.dirname(os.path.abspath(__file__)))

EXPECTED = [
    *[-95.36196, -76.71844, -90.2768, -74.99467, -64.27738, -116.26304],
    *[-44.783, -96.01698, -61.04524],
]


def likelihoods():
    import lm_eval
    import lm_eval.tasks

    found = lm_eval.simple_evaluate(
        model="local-completions",
        model_args={
            "model": "m",
            "base_url": GIVEN["address"] + "/v1/completions",
            "tokenizer": GIVEN["tokenizer"],
            "tokenizer_backend": "huggingface",
            # As the hf model does for this tokenizer.
            "add_bos_token": True,
        },
        tasks=["slipway_choice"],
        task_manager=lm_eval.tasks.TaskManager(include_path="."),
        batch_size=4,
        bootstrap_iters=0,
    )
    return [answer[0][0] for sample in found["samples"]["slipway_choice"] for answer in sample["resps"]]


error = None
try:
    found = likelihoods()
    worst = max(abs(one - other) for one, other in zip(found, EXPECTED, strict=True))
    if worst > 1e-3:
        raise ValueError(f"log-likelihoods are off by {worst}: {found}")
except Exception as thrown:  # its libraries have errors of their own
    error = f"{type(thrown).__name__}: {thrown}".splitlines()[0][:300]
print(json.dumps({"client": "lm-eval", "call": "local-completions, multiple choice", "error": error}), flush=True)
