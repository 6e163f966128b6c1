"""Writes tiny repositories of model types into a folder, with random weights and the answers of transformers' pipelines.

Needs what scripts/fixtures/zoo_exported.py needs. Run from the repository root after scripts/packing/unpack.mjs:
python scripts/atlas/tiny.py OUT < PAIRS, where each line has a task and a model type. Each is made in a process of its own
that has LIMIT seconds. OUT/TASK/TYPE has repo/ and cases.json, or problem.txt with the reason why there is none.
"""

import dataclasses
import json
import os
import shutil
import signal
import sys
from pathlib import Path

import torch
import transformers
from transformers.models.auto import modeling_auto as auto

sys.path.insert(0, "scripts/fixtures")
import tiny_parts as parts
import tiny_texts as texts
import zoo_exported as zoo
import zoo_exported_chats as chats
import zoo_exported_seq2seq as seq2seq

LIMIT = 90
MOST_PARAMETERS = 30e6
ANSWER, DEPTH = "question-answering", "depth-estimation"
CLASSES = {**zoo.CLASSES, ANSWER: "QuestionAnswering", DEPTH: "DepthEstimation", seq2seq.TASK: "Seq2SeqLM"}
PICTURES = (zoo.PICTURE, zoo.FEATURES, zoo.OBJECTS, zoo.SEGMENTS, DEPTH, zoo.MATCH)
LAYERS = "num_hidden_layers n_layers n_layer num_layers encoder_layers decoder_layers num_decoder_layers num_encoder_layers"
HEADS = "num_attention_heads n_heads n_head num_heads encoder_attention_heads decoder_attention_heads attention_heads"
WIDTHS = "hidden_size d_model n_embd emb_dim dim embed_dim"
INNER = "intermediate_size ffn_dim encoder_ffn_dim decoder_ffn_dim d_ff d_inner n_inner feed_forward_size"
#: Field of a configuration -> its size in a tiny network, where the field holds a number
SMALL = {
    **dict.fromkeys(LAYERS.split(), 2),
    **dict.fromkeys(HEADS.split(), 4),
    **dict.fromkeys(WIDTHS.split(), 32),
    **dict.fromkeys(INNER.split(), 48),
    **{"head_dim": 8, "d_kv": 8, "moe_intermediate_size": 24, "shared_expert_intermediate_size": 24, "qk_rope_head_dim": 8},
    **{"num_experts": 4, "num_local_experts": 4, "n_routed_experts": 4, "num_experts_per_tok": 2, "moe_num_experts": 4},
    **{"q_lora_rank": 16, "kv_lora_rank": 16, "qk_nope_head_dim": 8, "v_head_dim": 8, "projection_dim": 24},
    **{"max_position_embeddings": 128, "n_positions": 128, "max_seq_len": 128, "encoder_no_repeat_ngram_size": 0},
}
#: Numbers that say how many of each there are, as the default has them for one head
GROUPED = ("num_key_value_heads", "num_kv_heads")
SPECIAL = {
    **{"xlm": zoo.XLM, "flaubert": zoo.XLM},
    "perceiver": {
        "num_latents": 16,
        "d_latents": 64,
        "d_model": 64,
        "num_blocks": 1,
        "num_self_attends_per_block": 2,
        "num_self_attention_heads": 4,
        "num_cross_attention_heads": 4,
    },
    "splinter": {"question_token_id": 104},
    "cvt": {"depth": [1, 1, 2], "embed_dim": [16, 32, 48], "num_heads": [1, 2, 3]},
    "pvt": {**zoo.STAGES, "hidden_sizes": [16, 32, 40, 64], "num_labels": len(zoo.LABELS)},
    "donut-swin": {"image_size": 32, "patch_size": 4, "embed_dim": 16, "depths": [1, 1], "num_heads": [2, 2], "window_size": 4},
    "bit": {"depths": [1, 1, 1, 1], "hidden_sizes": [32, 64, 96, 128], "embedding_size": 32},
    "textnet": {},
    "neomme": {
        **{"vocab_size": zoo.VOCABULARY, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3, "embedding_rank": 16},
        **{"num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16, "max_position_embeddings": 128, "sliding_window": 8, "pad_token_id": 0},
        "layer_types": ["sliding_attention", "sliding_attention", "full_attention"],
    },
    "lilt": {"hidden_size": 48},
    "pp_lcnet": {},
    "layoutlmv3": {"coordinate_size": 6, "shape_size": 4, "input_size": 32, "patch_size": 16},
    "swin2sr": {"image_size": 32, "embed_dim": 32, "depths": [1, 1], "num_heads": [2, 2], "window_size": 4},
    "dinat": {"depths": [1, 1, 1, 1], "embed_dim": 16},
    "mobilevitv2": {"image_size": 64, "width_multiplier": 0.25},
    **parts.DETECTORS,
    **parts.DEPTHS,
    **parts.PAIRS,
    **parts.SEGMENTS,
}
#: Edges of pictures of what has its stages, and so no small one
EDGES = {"perceiver": 32, "vitdet": 32, "swin2sr": 32, "prompt_depth_anything": 56}


def small_fields(kind, task):
    """Fields that make a configuration of this class tiny."""
    fields = {field.name for field in dataclasses.fields(kind)}
    default = kind()
    # Of layers that differ: here it is the same for all.
    default.allow_global_per_layer_attribute_access = True
    values = {**default.to_dict(), **{name: getattr(default, name, None) for name in fields}}
    found = {}
    for name in fields:
        value = values.get(name)
        if name in SMALL and (value is None and name in ("head_dim", "n_inner") or isinstance(value, int)) and not isinstance(value, bool):
            found[name] = SMALL[name] if value is not None else None
        elif name in GROUPED and isinstance(value, int):
            heads = next((values[head] for head in HEADS.split() if isinstance(values.get(head), int)), value)
            found[name] = 4 if value == heads else 2
        elif name == "is_decoder" and task == zoo.WRITE:
            found[name] = True
        elif name == "depths" and isinstance(value, (list, tuple)):
            found[name] = [1] * len(value)
    words = 520 if task == zoo.WRITE else zoo.VOCABULARY
    for name in ("vocab_size", "n_words", "text_vocab_size"):
        if name in fields:
            found[name] = words
    if "vocab_size" in fields or "n_words" in fields:
        ids = {"bos_token_id": words - 2, "eos_token_id": words - 1} if task == zoo.WRITE else {"bos_token_id": 2, "eos_token_id": 3}
        found |= {name: given for name, given in {"pad_token_id": 0, **ids}.items() if name in fields}
    if isinstance(values.get("image_size"), int) and isinstance(values.get("patch_size"), int):
        found |= {"image_size": 32, "patch_size": 8}
    for name, part in (getattr(kind, "sub_configs", None) or {}).items():
        inner = getattr(default, name, None)
        part = type(inner) if inner is not None else part
        if dataclasses.is_dataclass(part) and part.__name__ != "AutoConfig" and hasattr(part, "model_type"):
            try:
                given = {"model_type": part.model_type, **small_fields(part, task)}
                if inner is not None:
                    kept = inner.to_dict()
                    # Stages of a backbone are named by their layers.
                    stages = ("out_features", "out_indices", "num_hidden_layers")
                    given |= {key: kept[key] for key in stages if kept.get(key) and "backbone" in name}
                found[name] = given
            except Exception:
                pass
    return found


def variants(model_type, task):
    """Configurations from the smallest to the default: not every class takes all sizes."""
    kind = transformers.CONFIG_MAPPING[model_type]
    if writes_answers(model_type, task):
        yield {**seq2seq.SIZES, **seq2seq.SPEECH_SIZES}[model_type]
        return
    if model_type in SPECIAL:
        base = {"vocab_size": zoo.VOCABULARY, "pad_token_id": 0} if model_type == "perceiver" else {}
        small = {} if model_type in ("xlm", "flaubert") or not dataclasses.is_dataclass(kind) else base
        if model_type in ("splinter", "layoutlmv3", "lilt"):
            small = small_fields(kind, task)
        yield {**small, **SPECIAL[model_type]}
    found = small_fields(kind, task)
    if model_type in texts.DECODERS:
        yield {**found, **texts.DECODERS[model_type]}
    yield found
    yield {name: value for name, value in found.items() if name not in ("head_dim", "d_kv", "hidden_size", "embed_dim")}
    yield {name: value for name, value in found.items() if name in ("vocab_size", "pad_token_id", "bos_token_id", "eos_token_id", *LAYERS.split())}
    yield {}


def writes_answers(model_type, task):
    """Whether an encoder-decoder writes what is answered."""
    return task == seq2seq.TASK or (task == zoo.SPEECH and model_type in seq2seq.SPEECH_SIZES)


def loader_of(model_type, task):
    if task == zoo.SPEECH and model_type in seq2seq.SPEECH_SIZES:
        return transformers.AutoModelForSpeechSeq2Seq
    if task == zoo.SEGMENTS and model_type in auto.MODEL_FOR_UNIVERSAL_SEGMENTATION_MAPPING_NAMES:
        return transformers.AutoModelForUniversalSegmentation
    return getattr(transformers, f"AutoModelFor{CLASSES[task]}") if CLASSES[task] else transformers.AutoModel


def network(model_type, task, seed=5):
    """Random weights, norms and biases included: equal tensors would become one in an export."""
    loader = loader_of(model_type, task)
    names = {"id2label": dict(enumerate(zoo.LABELS)), "label2id": {name: i for i, name in enumerate(zoo.LABELS)}}
    problem = None
    for fields in variants(model_type, task):
        try:
            labels = names if task not in (ANSWER, zoo.MATCH, DEPTH) and not writes_answers(model_type, task) else {}
            config = transformers.CONFIG_MAPPING[model_type](**fields, **labels)
            with torch.device("meta"):
                size = sum(one.numel() for one in loader.from_config(config).parameters())
            if size > MOST_PARAMETERS:
                raise ValueError(f"its smallest network has {size / 1e6:.0f} M numbers")
            model = loader.from_config(config).float().eval()
            break
        except Exception as error:
            problem = problem or error
    else:
        raise problem
    draw = torch.Generator().manual_seed(seed)
    if writes_answers(model_type, task):
        seq2seq.shake(model, draw)
        return model
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=draw) * 0.06)
    return model


def answers(task, repo, folder):
    if task == DEPTH:
        (folder / "media").mkdir()
        shutil.copyfile(zoo.PHOTO, folder / "media" / "photo.jpg")
        found = transformers.pipeline(task, model=str(repo))(str(zoo.PHOTO))
        low, high = found["depth"].getextrema()
        if low == high:
            raise Flat("its depth is the same everywhere")
        (folder / "expected").mkdir()
        found["depth"].save(folder / "expected" / "depth.png")
        return [{"request": {"base64": {"$file": "media/photo.jpg"}}, "expect": {"depth_png": {"$file": "expected/depth.png"}}}]
    if (repo / "tokenizer.json").exists() and task in (seq2seq.TASK, zoo.SPEECH):
        found = seq2seq.answers(repo) if task == seq2seq.TASK else seq2seq.speech_answers(repo, folder, zoo.SPEECH_FILE)
        if found is None:
            raise Flat("its texts are answered alike")
        return found
    if task == ANSWER:
        asked = [("Who waits?", text) for text in zoo.TEXTS[:2]]
        return [{"request": {"question": q, "context": c}, "expect": answer(repo, q, c)} for q, c in asked]
    if task == zoo.EMBED:
        run = transformers.pipeline(task, model=str(repo))
        # The server pools, if nobody says otherwise.
        return [{"request": {"text": text, "params": {"pooling": "none"}}, "expect": run(text)[0]} for text in zoo.TEXTS]
    found = zoo.answers(task, repo, folder)
    if task in (zoo.OBJECTS, zoo.SEGMENTS) and not found[0]["expect"]:
        raise Flat("it finds nothing")
    return found


def answer(repo, question, context):
    """As the pipeline of transformers 4 found it; 5 has none: of the twelve best spans of the context of at most 15 tokens, those of the same words are one."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(repo)
    model = transformers.AutoModelForQuestionAnswering.from_pretrained(repo).eval()
    given = tokenizer(question, context, return_tensors="pt")
    with torch.no_grad():
        found = model(**given)
    inside = torch.tensor([part == 1 for part in given.sequence_ids(0)])
    if tokenizer.cls_token_id is not None:
        inside |= given.input_ids[0] == tokenizer.cls_token_id
    start, end = (torch.softmax(one[0].masked_fill(~inside, -10000.0), -1) for one in (found.start_logits, found.end_logits))
    start[0] = end[0] = 0.0
    spans = (start[:, None] * end[None, :]).triu().tril(14)
    answers = {}
    for place in spans.flatten().argsort(descending=True)[:12].tolist():
        first, last = divmod(place, len(end))
        if not (inside[first] and inside[last]):
            continue
        begin = given.word_to_chars(0, given.token_to_word(0, first), sequence_index=1).start
        stop = given.word_to_chars(0, given.token_to_word(0, last), sequence_index=1).end
        one = answers.setdefault(context[begin:stop], {"score": 0.0, "start": begin, "end": stop, "answer": context[begin:stop]})
        one["score"] += float(spans[first, last])
    return max(answers.values(), key=lambda one: one["score"])


#: Processors that a pipeline's own step behind the network needs
PROCESSORS = {DEPTH: "DPTImageProcessor", zoo.OBJECTS: "DeformableDetrImageProcessor"}


def picture_files(repo, task, model_type, edge):
    zoo.picture_files(repo, edge)
    name = parts.PROCESSORS.get(model_type, PROCESSORS.get(task))
    if name is None:
        return
    settings = repo / "preprocessor_config.json"
    # An exported graph reads pictures of one size.
    more = {"image_processor_type": name, "do_pad": False, "keep_aspect_ratio": False}
    if name == "BitImageProcessor":
        more |= {"do_center_crop": False}
    if name == "EomtImageProcessor":
        more |= {"size": {"shortest_edge": edge, "longest_edge": edge}, "do_pad": True, "do_split_image": False}
    if name == "TextNetImageProcessor":
        more |= {"size": {"shortest_edge": edge}}
    settings.write_text(json.dumps({**json.loads(settings.read_text()), **more}))


def edge_of(config):
    part = getattr(config, "vision_config", None) or getattr(config, "backbone_config", None) or config
    found = getattr(part, "image_size", None)
    return EDGES.get(config.model_type, found if isinstance(found, int) and found <= 256 else 64)


def without_segments(repo):
    """As tokenizers of decoders are, some of which read a segment's number as a word."""
    settings = repo / "tokenizer_config.json"
    if settings.exists():
        known = json.loads(settings.read_text())
        settings.write_text(json.dumps({**known, "model_input_names": ["input_ids", "attention_mask"]}))


class Flat(RuntimeError):
    """Random numbers of which nothing can be compared."""


def make(task, model_type, folder):
    if task == chats.TASK:
        return make_chat(model_type, folder)
    for seed in range(5, 25):
        try:
            return make_with(seed, task, model_type, folder)
        except Flat:
            shutil.rmtree(folder)
    raise Flat("every one of 20 networks answers the same everywhere")


def make_with(seed, task, model_type, folder):
    repo = folder / "repo"
    repo.mkdir(parents=True)
    torch.manual_seed(seed - 2)
    model = network(model_type, task, seed)
    model.save_pretrained(repo)
    if task in PICTURES:
        picture_files(repo, task, model_type, edge_of(model.config))
    if task == zoo.SPEECH and writes_answers(model_type, task):
        zoo.sound_files(repo, zoo.SOUNDS)
        zoo.text_files(repo, seq2seq.TOKENIZER)
    elif task == zoo.SPEECH:
        zoo.sound_files(repo, task)
    elif task not in PICTURES or task == zoo.MATCH:
        zoo.text_files(repo, {zoo.WRITE: zoo.WRITER, seq2seq.TASK: seq2seq.TOKENIZER}.get(task, zoo.TOKENIZER))
    if model_type in auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES and model_type not in auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES:
        without_segments(repo)
    try:
        cases = answers(task, repo, folder)
    except (TypeError, ValueError):
        without_segments(repo)
        shutil.rmtree(folder / "media", ignore_errors=True)
        cases = answers(task, repo, folder)
    about = {"class": type(model).__name__, "cases": cases}
    (folder / "cases.json").write_text(json.dumps(about, default=float))


def make_chat(model_type, folder):
    if model_type not in chats.TYPES:
        raise ValueError("what its processor gives has no recipe")
    model, cases = chats.make(model_type, folder)
    (folder / "cases.json").write_text(json.dumps({"class": type(model).__name__, "cases": cases}))


def attempt(task, model_type, folder):
    shutil.rmtree(folder, ignore_errors=True)
    child = os.fork()
    if child:
        status = os.waitpid(child, 0)[1]
        if status and not (folder / "problem.txt").exists():
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "problem.txt").write_text(f"no tiny network: ended by {os.waitstatus_to_exitcode(status)}\n")
        return
    signal.alarm(LIMIT)
    try:
        make(task, model_type, folder)
        os._exit(0)
    except BaseException as error:
        (folder / "cases.json").unlink(missing_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "problem.txt").write_text(f"no tiny network: {type(error).__name__}: {' '.join(str(error).split())[:200]}\n")
        os._exit(1)


if __name__ == "__main__":
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    # What every child would load again.
    for lazy in ("pipeline", "AutoModel", "AutoTokenizer", "AutoImageProcessor", "GenerationMixin", "PreTrainedModel"):
        getattr(transformers, lazy)
    for line in sys.stdin:
        name, kind = line.split()
        place = Path(sys.argv[1]) / name / kind
        if not (place / "cases.json").exists() and not (place / "problem.txt").exists():
            attempt(name, kind, place)
        print(name, kind, (place / "problem.txt").read_text().strip() if (place / "problem.txt").exists() else "made", flush=True)
