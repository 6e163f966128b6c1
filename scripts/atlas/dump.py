"""Writes scripts/atlas/classes.json: the model types of transformers that have a class for one of our tasks.

Needs: pip install transformers==5.24.0 torch. Run from the repository root: python scripts/atlas/dump.py
"""

import json
from pathlib import Path

import transformers
from transformers.models.auto import modeling_auto

#: Our task -> the tables of transformers' auto classes that it is done by
TABLES = {
    "text-generation": ["CAUSAL_LM"],
    "text2text-generation": ["SEQ_TO_SEQ_CAUSAL_LM"],
    "fill-mask": ["MASKED_LM"],
    "text-classification": ["SEQUENCE_CLASSIFICATION"],
    "token-classification": ["TOKEN_CLASSIFICATION"],
    "feature-extraction": ["TEXT_ENCODING"],
    "question-answering": ["QUESTION_ANSWERING"],
    "image-classification": ["IMAGE_CLASSIFICATION"],
    "image-segmentation": ["IMAGE_SEGMENTATION", "SEMANTIC_SEGMENTATION", "INSTANCE_SEGMENTATION", "UNIVERSAL_SEGMENTATION"],
    "image-feature-extraction": ["IMAGE"],
    "object-detection": ["OBJECT_DETECTION"],
    "depth-estimation": ["DEPTH_ESTIMATION"],
    "mask-generation": ["MASK_GENERATION"],
    "visual-question-answering": ["VISUAL_QUESTION_ANSWERING"],
    "document-question-answering": ["DOCUMENT_QUESTION_ANSWERING"],
    "zero-shot-image-classification": ["ZERO_SHOT_IMAGE_CLASSIFICATION"],
    "zero-shot-object-detection": ["ZERO_SHOT_OBJECT_DETECTION"],
    "image-text-to-text": ["IMAGE_TEXT_TO_TEXT"],
    "audio-classification": ["AUDIO_CLASSIFICATION"],
    "automatic-speech-recognition": ["CTC", "SPEECH_SEQ_2_SEQ", "TDT", "RNNT"],
    "text-to-speech": ["TEXT_TO_SPECTROGRAM", "TEXT_TO_WAVEFORM"],
    "audio-text-to-text": ["MULTIMODAL_LM"],
    "video-classification": ["VIDEO_CLASSIFICATION"],
}
#: Tables of texts hold chats about images and sounds, too, and that of all media those about images
ELSEWHERE = {
    "text-generation": ["MULTIMODAL_LM"],
    "text2text-generation": ["MULTIMODAL_LM", "SPEECH_SEQ_2_SEQ"],
    "audio-text-to-text": ["IMAGE_TEXT_TO_TEXT"],
}


def table(name):
    return getattr(modeling_auto, f"MODEL_FOR_{name}_MAPPING_NAMES")


def types_of(task):
    found = {}
    for name in TABLES[task]:
        for model_type, classes in table(name).items():
            found.setdefault(model_type, classes if isinstance(classes, str) else classes[0])
    others = {model_type for name in ELSEWHERE.get(task, []) for model_type in table(name)}
    return {model_type: found[model_type] for model_type in sorted(found) if model_type not in others}


tasks = {task: types_of(task) for task in TABLES}
#: Types whose configuration is saved as that of another
saved = {
    model_type: transformers.CONFIG_MAPPING[model_type].model_type
    for model_type in sorted({name for types in tasks.values() for name in types})
    if transformers.CONFIG_MAPPING[model_type].model_type != model_type
}
facts = {"transformers": transformers.__version__, "saved": saved, "tasks": tasks}
Path("scripts/atlas/classes.json").write_text(json.dumps(facts, indent=1) + "\n")
