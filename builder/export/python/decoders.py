"""A step of a decoder: tokens behind a cache, as transformers itself calls it."""

from samples import Refused, sample

#: Leaves of a cache by the end of their names -> axes that grow. States of convolutions and recurrent layers keep their sizes.
GROWING = {"keys": (2,), "values": (2,), "indexer_keys": (1,)}
STATES = ("conv_states", "recurrent_states")


def kind_of(name):
    """Of a leaf of a cache: `layers.3.conv_states.0` is one of conv_states."""
    parts = name.split(".")
    return parts[2] if len(parts) > 2 and parts[0] == "layers" else name


def cache_leaves(cache):
    """Tensors of a cache by their names, but for numbers that layers keep beside them."""
    from transformers.exporters.utils import get_leaf_tensors

    leaves = {name: leaf for name, leaf in get_leaf_tensors(cache).items() if leaf.dim() > 0}
    if not leaves:
        raise Refused("it keeps no cache")
    if any(kind_of(name) not in (*GROWING, *STATES) for name in leaves):
        raise Refused("its cache holds more than keys, values and states")
    return leaves


def steps_singly(job, model):
    """Whether a step takes one token: loops of recurrent layers are traced as they are, and some networks take no more."""
    feeds, real = sample(job, job["traced"], seed=1, padded=False)
    cache = cache_of(run(model, {name: value[:, :-2] for name, value in rows_from(feeds, real, 0).items()}))
    if states_of(cache):
        return True
    try:
        run(model, {**rows_from(feeds, real, -2), "cache": cache})
    except Exception:
        return True
    return False


def cut(name, leaf, past):
    """A leaf as it is behind so many tokens; states behind none are zeros."""
    if kind_of(name) in STATES:
        return leaf.clone() if past else leaf * 0
    axis = GROWING[kind_of(name)][0]
    return leaf.narrow(axis, 0, min(past, leaf.shape[axis])).clone()


def captured(job, model, many):
    """The step as `generate` calls it, of several tokens or of one."""
    from transformers.exporters.utils import decompose_prefill_decode

    feeds, _ = sample(job, job["traced"], seed=1, padded=many)
    return decompose_prefill_decode(model, feeds, multi_token_decode=many)["decode"]


def decoder_step(job, model):
    """The network, its inputs and which of their axes are free. Loops of recurrent layers take one token each time."""
    import torch
    from transformers.exporters.exporter_dynamo import get_auto_dynamic_shapes, is_cache_object

    model.generation_config.eos_token_id = None
    model.generation_config.pad_token_id = 0
    step, inputs = captured(job, model, many=not steps_singly(job, model))
    caches = [name for name, value in inputs.items() if is_cache_object(value)]
    if not caches:
        raise Refused("it keeps no cache")
    fixed = {"use_cache", "output_attentions", "output_hidden_states", "return_dict"}
    free = {name: get_auto_dynamic_shapes(value) for name, value in inputs.items() if name not in (*fixed, *caches)}
    auto = torch.export.Dim.AUTO
    for name in caches:
        free[name] = cache_shapes(inputs[name], auto)
    return step, inputs, free


def cache_shapes(cache, auto):
    """Free axes of a cache's leaves, in the order of its tree. Heads and widths stay numbers, or nobody could make an empty one."""
    from transformers.exporters.exporter_dynamo import _pytree_flatten

    names = {id(leaf): name for name, leaf in cache_leaves(cache).items()}

    def shape_of(leaf):
        if not hasattr(leaf, "dim"):
            return None
        name = names.get(id(leaf))
        return {} if name is None else dict.fromkeys((0, *GROWING.get(kind_of(name), ())), auto)

    return [shape_of(leaf) for leaf in _pytree_flatten(cache)[0]]


def decoder_probes(job, model):
    """Tokens behind nothing, and behind a cache of others. Rows are padded on the left where they take several tokens."""
    from transformers.cache_utils import DynamicCache

    single = steps_singly(job, model)
    found = {}
    for number, sizes in enumerate(job["probes"]):
        past = sizes["past"]
        sizes = {**sizes, "length": past + 1} if single else sizes
        feeds, real = sample(job, sizes, seed=100 + number, padded=not single)
        # As `generate` has it: a mask is given where there is padding.
        mask = {} if single else {"attention_mask": real}
        before = {name: value[:, :max(1, past)] for name, value in {**rows_from(feeds, real, 0), **mask}.items()}
        cache = cache_of(run(model, before))
        whole = cache_of(run(model, {**before, "cache": DynamicCache()})) if slides(cache) else cache
        kept = {name: cut(name, leaf, past) for name, leaf in cache_leaves(whole).items()}
        last = {**rows_from(feeds, real, past), **mask}
        answer = run(model, {**last, **({"cache": cache} if past else {})})
        given = {**last, **{f"cache.{name}": leaf for name, leaf in kept.items()}}
        wanted = {"logits": answer.logits, **states_of(cache_of(answer))}
        for side, tensors in (("in", given), ("out", wanted)):
            for name, tensor in tensors.items():
                found[f"{number}/{side}/{name}"] = tensor.contiguous().clone()
        found[f"{number}/real"] = real[:, past:].contiguous().clone()
    return found


def slides(cache):
    """Whether layers keep a window alone, where a graph keeps all tokens."""
    from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

    kinds = {type(layer) for layer in getattr(cache, "layers", [])}
    return DynamicSlidingWindowLayer in kinds <= {DynamicLayer, DynamicSlidingWindowLayer}


def states_of(cache):
    return {f"cache.{name}": leaf for name, leaf in cache_leaves(cache).items() if kind_of(name) in STATES}


def cache_of(answer):
    found = getattr(answer, "cache", None)
    if found is None:
        raise Refused("it keeps no cache")
    return found


def rows_from(feeds, real, past):
    places = (real.cumsum(1) - 1).clamp(min=0)
    return {"input_ids": feeds["input_ids"][:, past:], "position_ids": places[:, past:]}


def run(model, feeds):
    """Positions are left out where a network takes none: it counts by itself."""
    import inspect

    import torch

    taken = inspect.signature(model.forward).parameters
    every = any(one.kind == inspect.Parameter.VAR_KEYWORD for one in taken.values())
    given = {name: value for name, value in feeds.items() if every or name in taken}
    with torch.no_grad():
        return model(**given, use_cache=True)
