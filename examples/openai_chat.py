"""A chat by OpenAI's own client: whole, streamed, and as JSON that follows a schema.

Usage: KEY=... python examples/openai_chat.py http://localhost:8080
"""

import json
import os
import sys

from openai import OpenAI

url = sys.argv[1] if len(sys.argv) > 1 else "http://localhost:8080"
client = OpenAI(base_url=f"{url}/v1", api_key=os.environ.get("KEY") or "none")
# A container has one model, whatever it is called; a gateway wants its id.
model = client.models.list().data[0].id
messages = [{"role": "user", "content": "What is the capital of Norway?"}]

answer = client.chat.completions.create(model=model, messages=messages, max_tokens=20)
print(f"answer: {answer.choices[0].message.content!r}, {answer.usage.total_tokens} tokens")

print("streamed:", end="")
for event in client.chat.completions.create(model=model, messages=messages, max_tokens=20, stream=True):
    for choice in event.choices:
        print(repr(choice.delta.content or ""), end="")
print()

schema = {
    "type": "object",
    "properties": {"capital": {"enum": ["Oslo", "Bergen"]}},
    "required": ["capital"],
    "additionalProperties": False,
}
shaped = client.chat.completions.create(
    model=model,
    messages=messages,
    max_tokens=60,
    response_format={"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}},
)
print(f"shaped: {json.loads(shaped.choices[0].message.content)['capital']}")
