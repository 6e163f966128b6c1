"""Infinity's own client (infinity-client), which needs an httpx that is older than that of the others.

Usage: check.py '{"models": {task: address}, "key": key}'
Prints one line of JSON for each call: client, call, and the error where it failed.
"""

import json
import sys

from infinity_client import AuthenticatedClient
from infinity_client.api.default import classify, embeddings, health, models, rerank
from infinity_client.models import ClassifyInput, OpenAIEmbeddingInputText, RerankInput

GIVEN = json.loads(sys.argv[1])


def at(task):
    address = GIVEN["models"][task] + "/infinity"
    return AuthenticatedClient(base_url=address, token=GIVEN["key"], raise_on_unexpected_status=True)


def expect(value):
    if not value:
        raise ValueError(f"not as expected: {value}")


EMBEDDER = "sentence-similarity"
CASES = {
    "rerank": lambda: expect(
        rerank.sync(
            client=at(EMBEDDER), body=RerankInput(query="a", documents=["b", "a"], return_documents=True, top_n=1)
        )
        .results[0]
        .document
        == "a"
    ),
    "embeddings": lambda: expect(
        embeddings.sync(client=at(EMBEDDER), body=OpenAIEmbeddingInputText(input_=["a", "b"])).data[1].embedding
    ),
    "classify": lambda: expect(
        classify.sync(client=at("text-classification"), body=ClassifyInput(input_=["good"])).data[0][0].label
    ),
    "models": lambda: expect(models.sync(client=at(EMBEDDER)).data[0].capabilities == ["embed", "rerank"]),
    "health": lambda: expect(health.sync(client=at(EMBEDDER))["unix"]),
}

for call, run in CASES.items():
    error = None
    try:
        run()
    except Exception as thrown:  # the client has errors of its own
        error = f"{type(thrown).__name__}: {thrown}".splitlines()[0][:300]
    print(json.dumps({"client": "infinity-client", "call": call, "error": error}))
