"""Calls of the published Python clients against running models.

Usage: check.py '{"models": {task: address}, "key": key, "picture": file, "sound": file}'
Prints one line of JSON for each call: client, call, and the error where it failed.
"""

import asyncio
import functools
import json
import os
import sys
import typing
from pathlib import Path

import pydantic

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

GIVEN = json.loads(sys.argv[1])
AT = GIVEN["models"]
PICTURE, SOUND, KEY = GIVEN["picture"], GIVEN["sound"], GIVEN["key"]
BEARER = {"Authorization": f"Bearer {KEY}"}
HELLO = [{"role": "user", "content": "hi"}]
WEATHER = {
    "name": "weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
TOOLS = [{"type": "function", "function": WEATHER}]
CASES = []


class Forecast(pydantic.BaseModel, extra="forbid"):
    """Small, so that any model ends it."""

    city: typing.Literal["Oslo", "Rome"]
    sunny: bool


def is_forecast(value):
    if not isinstance(value, Forecast):
        raise ValueError(f"no forecast: {value}")
    return True


def cases(client, rows):
    for call, run in rows:
        CASES.append((client, call, run))


FORECAST_TOOL = [{"type": "function", "function": {"name": "forecast", "parameters": Forecast.model_json_schema()}}]


def openai_cases():
    import openai

    def at(task):
        return openai.OpenAI(base_url=AT[task] + "/v1", api_key=KEY, max_retries=0)

    def responses_stream():
        with at("chat").responses.stream(model="m", input="hi", max_output_tokens=3) as stream:
            return [event.type for event in stream][-1] in ("response.completed", "response.incomplete")

    chat = {"model": "m", "messages": HELLO, "max_completion_tokens": 4}
    cases(
        "openai (Python)",
        [
            ("chat.completions", lambda: at("chat").chat.completions.create(**chat).choices[0].message.content),
            ("chat.completions, stream", lambda: len(list(at("chat").chat.completions.create(**chat, stream=True)))),
            ("chat.completions, tools", lambda: at("chat").chat.completions.create(**chat, tools=TOOLS).choices),
            (
                "chat.completions, tool_choice required",
                lambda: Forecast.model_validate_json(
                    at("chat")
                    .chat.completions.create(
                        model="m", messages=HELLO, max_tokens=200, tools=FORECAST_TOOL, tool_choice="required"
                    )
                    .choices[0]
                    .message.tool_calls[0]
                    .function.arguments
                ),
            ),
            (
                "chat.completions, response_format",
                lambda: at("chat").chat.completions.create(**chat, response_format={"type": "json_object"}).choices,
            ),
            (
                "chat.completions.parse",
                lambda: is_forecast(
                    at("chat")
                    .chat.completions.parse(model="m", messages=HELLO, max_tokens=80, response_format=Forecast)
                    .choices[0]
                    .message.parsed
                ),
            ),
            (
                "responses.parse",
                lambda: is_forecast(
                    at("chat")
                    .responses.parse(model="m", input="hi", max_output_tokens=80, text_format=Forecast)
                    .output_parsed
                ),
            ),
            ("responses", lambda: at("chat").responses.create(model="m", input="hi", max_output_tokens=3).output),
            ("responses, stream", responses_stream),
            ("completions", lambda: at("text-generation").completions.create(model="m", prompt="a", max_tokens=3)),
            ("embeddings", lambda: at("sentence-similarity").embeddings.create(model="m", input=["a", "b"]).data[1]),
            ("models.list", lambda: at("chat").models.list().data[0].id),
            (
                "audio.transcriptions",
                lambda: at("automatic-speech-recognition").audio.transcriptions.create(
                    model="m", file=Path(SOUND), response_format="verbose_json"
                ),
            ),
            (
                "audio.speech",
                lambda: at("text-to-speech")
                .audio.speech.create(model="m", voice="alloy", input="hello")
                .read()[:3]
                == b"ID3",
            ),
            ("images.generate", lambda: at("text-to-image").images.generate(model="m", prompt="a").data[0].b64_json),
            (
                "moderations",
                lambda: at("text-classification")
                .moderations.create(model="m", input=["a", "b"], extra_body={"flags": {"anger": 0}})
                .results[1]
                .flagged,
            ),
        ],
    )


def hugging_face_cases():
    from huggingface_hub import InferenceClient

    # A client that is garbage-collected closes its streams.
    @functools.cache
    def at(task):
        return InferenceClient(model=AT[task], token=KEY, timeout=120)

    cases(
        "huggingface_hub",
        [
            ("chat_completion", lambda: at("chat").chat_completion(HELLO, max_tokens=3).choices[0].message),
            ("text_generation", lambda: at("text-generation").text_generation("a", max_new_tokens=3)),
            (
                "text_generation, stream and details",
                lambda: list(at("text-generation").text_generation("a", max_new_tokens=3, stream=True, details=True))[
                    -1
                ].details.generated_tokens,
            ),
            ("summarization", lambda: at("summarization").summarization("a long text").summary_text),
            ("translation", lambda: at("translation").translation("hello").translation_text),
            ("fill_mask", lambda: at("fill-mask").fill_mask("The [MASK] is red")[0].token_str),
            ("text_classification", lambda: at("text-classification").text_classification("good")[0].label),
            ("token_classification", lambda: at("token-classification").token_classification("Maria lives")),
            ("feature_extraction", lambda: at("feature-extraction").feature_extraction("a").shape),
            (
                "sentence_similarity",
                lambda: at("sentence-similarity").sentence_similarity("a", other_sentences=["b"]),
            ),
            (
                "zero_shot_classification",
                lambda: at("zero-shot-classification").zero_shot_classification("a", candidate_labels=["x", "y"]),
            ),
            (
                "question_answering",
                lambda: at("question-answering").question_answering(question="Who?", context="Maria lives").answer,
            ),
            ("image_classification", lambda: at("image-classification").image_classification(PICTURE)[0].label),
            ("image_segmentation", lambda: at("image-segmentation").image_segmentation(PICTURE)[0].mask.size),
            ("image_to_text", lambda: at("image-to-text").image_to_text(PICTURE).generated_text),
            ("object_detection", lambda: at("object-detection").object_detection(PICTURE)),
            (
                "visual_question_answering",
                lambda: at("visual-question-answering").visual_question_answering(PICTURE, question="what?")[0].answer,
            ),
            (
                "document_question_answering",
                lambda: at("document-question-answering").document_question_answering(PICTURE, question="what?"),
            ),
            (
                "zero_shot_image_classification",
                lambda: at("zero-shot-image-classification").zero_shot_image_classification(
                    PICTURE, candidate_labels=["a", "b"]
                ),
            ),
            ("text_to_image", lambda: at("text-to-image").text_to_image("a").size),
            ("audio_classification", lambda: at("audio-classification").audio_classification(SOUND)[0].label),
            (
                "automatic_speech_recognition",
                lambda: at("automatic-speech-recognition").automatic_speech_recognition(SOUND).text,
            ),
            ("text_to_speech", lambda: at("text-to-speech").text_to_speech("hello")[:4] == b"RIFF"),
        ],
    )


def other_cases():
    import anthropic
    import cohere
    import ollama

    claude = anthropic.Anthropic(base_url=AT["chat"], api_key=KEY, max_retries=0)
    message = {"model": "m", "max_tokens": 3, "messages": HELLO}

    def anthropic_stream():
        with claude.messages.stream(**message) as stream:
            return "".join(stream.text_stream), stream.get_final_message().usage.input_tokens > 0

    cases(
        "anthropic (Python)",
        [
            ("messages", lambda: claude.messages.create(**message).content[0].text),
            ("messages, stream", anthropic_stream),
            (
                "messages, tools",
                lambda: claude.messages.create(
                    **message, tools=[{"name": "weather", "input_schema": WEATHER["parameters"]}]
                ).stop_reason,
            ),
            (
                "messages.count_tokens",
                lambda: claude.messages.count_tokens(model="m", messages=HELLO).input_tokens > 0,
            ),
        ],
    )
    embedder = ollama.Client(host=AT["sentence-similarity"], headers=BEARER)
    llama = ollama.Client(host=AT["chat"], headers=BEARER)
    options = {"num_predict": 3}
    cases(
        "ollama (Python)",
        [
            ("chat", lambda: llama.chat("m", messages=HELLO, options=options).message.content),
            ("chat, stream", lambda: len(list(llama.chat("m", messages=HELLO, stream=True, options=options)))),
            ("chat, tools", lambda: llama.chat("m", messages=HELLO, tools=TOOLS, options=options).message),
            ("generate", lambda: llama.generate("m", prompt="hi", options=options).response),
            ("embed", lambda: len(embedder.embed("m", input=["a"]).embeddings[0])),
            ("list, ps, show", lambda: (llama.list(), llama.ps(), llama.show("m").capabilities)),
        ],
    )
    co = cohere.ClientV2(api_key=KEY, base_url=AT["sentence-similarity"])
    cases(
        "cohere (Python)",
        [
            ("rerank", lambda: co.rerank(model="m", query="a", documents=["b", "a"]).results[0].index == 1),
            (
                "embed",
                lambda: co.embed(
                    model="m", texts=["a"], input_type="search_document", embedding_types=["float"]
                ).embeddings.float_,
            ),
        ],
    )


def framework_cases():
    import instructor
    import litellm
    import openai
    from langchain_openai import ChatOpenAI, OpenAIEmbeddings
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
    from llama_index.embeddings.text_embeddings_inference import TextEmbeddingsInference
    from llama_index.llms.openai_like import OpenAILike
    from llama_index.postprocessor.tei_rerank import TextEmbeddingInference
    from pydantic_ai import Agent, NativeOutput
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    litellm.suppress_debug_info = True
    v1, embedder = AT["chat"] + "/v1", AT["sentence-similarity"]
    lang = ChatOpenAI(base_url=v1, api_key=KEY, model="m", max_tokens=3, max_retries=0)
    roomy = ChatOpenAI(base_url=v1, api_key=KEY, model="m", max_tokens=200, max_retries=0)
    nodes = [NodeWithScore(node=TextNode(text=text)) for text in "ab"]
    cases(
        "LangChain (Python)",
        [
            ("invoke", lambda: lang.invoke("hi").content),
            ("stream", lambda: len(list(lang.stream("hi")))),
            ("bind_tools", lambda: lang.bind_tools(TOOLS).invoke("hi").content),
            (
                "with_structured_output, json_schema",
                lambda: is_forecast(roomy.with_structured_output(Forecast, method="json_schema").invoke("hi")),
            ),
            (
                "with_structured_output, function_calling",
                lambda: is_forecast(roomy.with_structured_output(Forecast, method="function_calling").invoke("hi")),
            ),
            (
                "OpenAIEmbeddings",
                lambda: len(
                    OpenAIEmbeddings(
                        base_url=embedder + "/v1", api_key=KEY, model="m", check_embedding_ctx_length=False
                    ).embed_query("hi")
                ),
            ),
        ],
    )
    cases(
        "LlamaIndex",
        [
            (
                "OpenAILike",
                lambda: OpenAILike(model="m", api_base=v1, api_key=KEY, is_chat_model=True, max_tokens=3).complete("hi"),
            ),
            (
                "TextEmbeddingsInference",
                lambda: TextEmbeddingsInference(
                    base_url=embedder, model_name="m", auth_token=KEY
                ).get_text_embedding_batch(["a", "b"]),
            ),
            (
                "TEI rerank",
                lambda: TextEmbeddingInference(
                    base_url=embedder, model_name="m", top_n=2, auth_token=BEARER["Authorization"]
                ).postprocess_nodes(
                    nodes, query_bundle=QueryBundle("a")
                ),
            ),
        ],
    )

    def rerank(provider, path="", model="m"):
        return lambda: litellm.rerank(
            model=f"{provider}/{model}", api_base=embedder + path, api_key=KEY, query="a", documents=["b", "a"]
        ).results

    def complete(model, base):
        return lambda: litellm.completion(model=model, api_base=base, api_key=KEY, messages=HELLO, max_tokens=3).choices

    cases(
        "litellm",
        [
            ("openai/", complete("openai/m", v1)),
            ("ollama_chat/", complete("ollama_chat/m", AT["chat"])),
            ("anthropic/", complete("anthropic/m", AT["chat"])),
            ("rerank cohere/", rerank("cohere")),
            ("rerank hosted_vllm/", rerank("hosted_vllm")),
            # This one goes to /v1/rerank of the host, wherever the address points.
            ("rerank jina_ai/", rerank("jina_ai", "/v1/rerank", "zoo/sentence-similarity")),
            ("rerank infinity/", rerank("infinity", "/infinity")),
            (
                "embedding infinity/",
                lambda: len(
                    litellm.embedding(
                        model="infinity/m", api_base=embedder + "/infinity", api_key=KEY, input=["a", "b"], dimensions=2
                    ).data[1]["embedding"]
                ),
            ),
        ],
    )
    model = OpenAIChatModel("m", provider=OpenAIProvider(base_url=v1, api_key=KEY))
    agent = Agent(model, model_settings={"max_tokens": 3})
    native = Agent(model, model_settings={"max_tokens": 80}, output_type=NativeOutput(Forecast))
    called = Agent(model, model_settings={"max_tokens": 200}, output_type=Forecast)
    cases(
        "pydantic-ai",
        [
            ("run_sync", lambda: agent.run_sync("hi").output),
            ("run_sync, output_type native", lambda: is_forecast(native.run_sync("hi").output)),
            ("run_sync, output_type as a tool", lambda: is_forecast(called.run_sync("hi").output)),
        ],
    )
    client = openai.OpenAI(base_url=v1, api_key=KEY, max_retries=0)
    cases(
        "instructor",
        [
            (
                "from_openai, TOOLS",
                lambda: is_forecast(
                    instructor.from_openai(client, mode=instructor.Mode.TOOLS).chat.completions.create(
                        model="m", messages=HELLO, max_tokens=200, response_model=Forecast, max_retries=0
                    )
                ),
            ),
            (
                "from_openai, JSON_SCHEMA",
                lambda: is_forecast(
                    instructor.from_openai(client, mode=instructor.Mode.JSON_SCHEMA).chat.completions.create(
                        model="m", messages=HELLO, max_tokens=80, response_model=Forecast, max_retries=0
                    )
                ),
            ),
        ],
    )


def mcp_cases():
    async def call():
        from mcp import ClientSession
        from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

        async with (
            create_mcp_http_client(headers=BEARER) as http,
            streamable_http_client(AT["text-classification"] + "/mcp", http_client=http) as (read, write),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            [tool] = (await session.list_tools()).tools
            result = await session.call_tool(tool.name, {"text": "good"})
            return result.structured_content["output"][0]["label"]

    cases("mcp (Python)", [("list_tools, call_tool", lambda: asyncio.run(call()))])


for add in (openai_cases, hugging_face_cases, other_cases, framework_cases, mcp_cases):
    add()
for client, call, run in CASES:
    error = None
    try:
        run()
    except Exception as thrown:  # each client has errors of its own
        error = f"{type(thrown).__name__}: {thrown}".splitlines()[0][:300]
    print(json.dumps({"client": client, "call": call, "error": error}), flush=True)
