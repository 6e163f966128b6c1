"""Graphs of an encoder-decoder: its encoder, the first step, which makes the caches, and a later step."""

from samples import Refused, sample

#: What the decoder is given, in the words of transformers
ANSWER = "decoder_input_ids"
#: Stages of `generate` by the parts of a job
STAGES = {"first": "prefill", "next": "decode"}


def part_of(job, model, sizes, seed):
    """A part, what it is fed with where it reads a sample of these sizes, and which of its tokens are no padding."""
    import torch
    from transformers.exporters.utils import decompose_for_generation

    feeds, real = sample(job, sizes, seed)
    if job["part"] == "encoder":
        return *encoder_of(model, feeds), real
    stages = decompose_for_generation(model, feeds, generation_config=plain_settings(model))
    if not set(STAGES.values()) <= set(stages):
        raise Refused("its steps are not those of an encoder-decoder")
    step, inputs = stages[STAGES[job["part"]]]
    return step, inputs, torch.ones_like(inputs[ANSWER])


def encoder_of(model, feeds):
    import inspect

    encoder = model.get_encoder()
    if encoder is None:
        raise Refused("it has no encoder")
    taken = inspect.signature(encoder.forward).parameters
    return encoder, {name: value for name, value in feeds.items() if name != ANSWER and name in taken}


def plain_settings(model):
    """Greedy, without what a repository says of its answers: the graph is that of one step."""
    from transformers import GenerationConfig

    known = model.generation_config
    start = known.bos_token_id if known.decoder_start_token_id is None else known.decoder_start_token_id
    # No token ends an answer.
    return GenerationConfig(decoder_start_token_id=start or 0, bos_token_id=start or 0, pad_token_id=0)


def free_axes(inputs):
    """Rows and lengths of everything that a part reads. Heads and widths stay numbers, or nobody could make an empty cache."""
    fixed = {"use_cache", "output_attentions", "output_hidden_states", "return_dict"}
    return {name: shapes_of(name, value) for name, value in inputs.items() if name not in fixed}


def shapes_of(name, value):
    import torch
    from transformers.exporters.exporter_dynamo import _pytree_flatten
    from transformers.exporters.utils import get_leaf_tensors

    if isinstance(value, torch.Tensor):
        return shape_of(name, value)
    names = {id(leaf): path for path, leaf in get_leaf_tensors({name: value}).items()}
    leaves = _pytree_flatten(value)[0]
    return [shape_of(names.get(id(leaf), ""), leaf) if isinstance(leaf, torch.Tensor) else None for leaf in leaves]


def shape_of(name, leaf):
    import torch

    if leaf.dim() == 0:
        return {}
    axes = (0, 2) if name.rpartition(".")[2] in ("keys", "values") else (0, 1)
    # One token is one in every later step.
    return {axis: torch.export.Dim.AUTO for axis in axes if axis < leaf.dim() and (axis == 0 or leaf.shape[axis] != 1)}


def part_probes(job, model):
    """Inputs of a part and torch's outputs, by the names that the graph has for them in the end."""
    import torch
    from transformers.exporters.utils import get_leaf_tensors

    found = {}
    for number, sizes in enumerate(job["probes"]):
        part, inputs, real = part_of(job, model, sizes, seed=100 + number)
        # A step changes its cache in place.
        given = {name: tensor.clone() for name, tensor in get_leaf_tensors(inputs).items()}
        with torch.no_grad():
            answers = get_leaf_tensors(part(**inputs))
        kept = {name: tensor for name, tensor in answers.items() if name in job["outputs"] or is_made(job, name)}
        for side, tensors in (("in", given), ("out", kept)):
            for name, tensor in tensors.items():
                found[f"{number}/{side}/{job['names'].get(name, name)}"] = tensor.detach().contiguous().clone()
        found[f"{number}/real"] = real.clone()
    return found


def is_made(job, name):
    """Whether a part makes this leaf of a cache: the source's keys and values are made once."""
    last = name.rpartition(".")[2]
    return last in ("keys", "values") and (job["part"] == "first" or "cross_attention" not in name)
