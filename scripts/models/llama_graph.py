"""Builds the ONNX graph of a Llama decoder by hand, with numpy and onnx only.

The inputs and outputs are those of a decoder-only export made by optimum:

    input_ids, attention_mask, position_ids, past_key_values.N.key/.value
    -> logits, present.N.key/.value

Building it here keeps PyTorch out of the bench commands, and keeps tied
embeddings in the file once instead of twice.
"""

import numpy as np
from graph_tools import Graph
from onnx import TensorProto, helper

MASKED = -1e9
MICROSOFT = "com.microsoft"


def rms_norm(graph, value, weight, epsilon):
    # The form of PyTorch's exports, which runtimes know how to fuse.
    square = graph.op("Pow", value, graph.float("two", 2.0))
    mean = graph.op("ReduceMean", square, axes=[-1], keepdims=1)
    root = graph.op("Sqrt", graph.op("Add", mean, graph.float("rms_epsilon", epsilon)))
    inverse = graph.op("Div", graph.float("one", 1.0), root)
    return graph.op("Mul", weight, graph.op("Mul", value, inverse))


def linear(graph, value, name, weights):
    # PyTorch keeps [out, in]; MatMul wants [in, out].
    return graph.op("MatMul", value, graph.weight(name, weights[name].T))


def rotary_tables(graph, head_dim, theta):
    """cos and sin of every position, shaped [batch, 1, sequence, head_dim]."""
    inverse = 1.0 / theta ** (np.arange(0, head_dim, 2, dtype=np.float32) / head_dim)
    positions = graph.op("Cast", graph.op("Unsqueeze", "position_ids", graph.ints(2)), to=TensorProto.FLOAT)
    angles = graph.op("Mul", positions, graph.weight("rotary_inverse", inverse.astype(np.float32)))
    angles = graph.op("Unsqueeze", graph.op("Concat", angles, angles, axis=-1), graph.ints(1))
    return graph.op("Cos", angles), graph.op("Sin", angles)


def rotate(graph, value, tables):
    first, second = graph.split(value, axis=-1)
    turned = graph.op("Concat", graph.op("Neg", second), first, axis=-1)
    cos, sin = tables
    return graph.op("Add", graph.op("Mul", value, cos), graph.op("Mul", turned, sin))


def attention_bias(graph, tokens):
    """0 where a query may look, a large negative number elsewhere; [batch, 1, 1, sequence, total]."""
    past = graph.op("Gather", graph.op("Shape", "past_key_values.0.key"), graph.int_scalar(2))
    sequence = graph.op("Gather", graph.op("Shape", tokens), graph.int_scalar(1))
    total = graph.op("Add", past, sequence)
    one = graph.int_scalar(1)
    keys = graph.op("Range", graph.int_scalar(0), total, one)
    queries = graph.op("Unsqueeze", graph.op("Range", past, total, one), graph.ints(1))
    causal = graph.op("LessOrEqual", keys, queries)
    present = graph.op("Unsqueeze", graph.op("Cast", "attention_mask", to=TensorProto.BOOL), graph.ints(1))
    allowed = graph.op("And", causal, present)
    bias = graph.op("Where", allowed, graph.float("allowed", 0.0), graph.float("masked", MASKED))
    return graph.op("Unsqueeze", bias, graph.ints(1, 2))


def heads(graph, value, count, head_dim):
    split = graph.op("Reshape", value, graph.ints(0, 0, count, head_dim))
    return graph.op("Transpose", split, perm=[0, 2, 1, 3])


def attention(graph, value, layer, config, weights, tables, bias):
    prefix = f"model.layers.{layer}.self_attn"
    count, kv_count = config["num_attention_heads"], config["num_key_value_heads"]
    head_dim = config["head_dim"]
    query = heads(graph, linear(graph, value, f"{prefix}.q_proj.weight", weights), count, head_dim)
    key = heads(graph, linear(graph, value, f"{prefix}.k_proj.weight", weights), kv_count, head_dim)
    new = heads(graph, linear(graph, value, f"{prefix}.v_proj.weight", weights), kv_count, head_dim)
    query, key = rotate(graph, query, tables), rotate(graph, key, tables)
    key = graph.op("Concat", f"past_key_values.{layer}.key", key, axis=2, out=f"present.{layer}.key")
    new = graph.op("Concat", f"past_key_values.{layer}.value", new, axis=2, out=f"present.{layer}.value")
    # The queries that share a key head get an axis of their own, so keys are broadcast, not copied.
    query = graph.op("Reshape", query, graph.ints(0, kv_count, count // kv_count, -1, head_dim))
    key = graph.op("Unsqueeze", graph.op("Transpose", key, perm=[0, 1, 3, 2]), graph.ints(2))
    scores = graph.op("Mul", graph.op("MatMul", query, key), graph.float("scale", head_dim**-0.5))
    shares = graph.op("Softmax", graph.op("Add", scores, bias), axis=-1)
    mixed = graph.op("MatMul", shares, graph.op("Unsqueeze", new, graph.ints(2)))
    mixed = graph.op("Reshape", mixed, graph.ints(0, count, -1, head_dim))
    mixed = graph.op("Transpose", mixed, perm=[0, 2, 1, 3])
    mixed = graph.op("Reshape", mixed, graph.ints(0, 0, count * head_dim))
    return linear(graph, mixed, f"{prefix}.o_proj.weight", weights)


def fused_tables(graph, config):
    """What GroupQueryAttention wants once: cos and sin of all positions, lengths of the rows, the longest length."""
    half = np.arange(0, config["head_dim"], 2, dtype=np.float32) / config["head_dim"]
    angles = np.outer(np.arange(config["max_position_embeddings"]), 1.0 / config["rope_theta"] ** half)
    tables = [graph.weight(f"rotary_{name}", turn(angles).astype(np.float32)) for name, turn in TURNS]
    present = graph.op("ReduceSum", "attention_mask", graph.ints(1), keepdims=0)
    lengths = graph.op("Cast", graph.op("Sub", present, graph.int_scalar(1)), to=TensorProto.INT32)
    total = graph.op("Gather", graph.op("Shape", "attention_mask"), graph.int_scalar(1))
    return [lengths, graph.op("Cast", total, to=TensorProto.INT32), *tables]


TURNS = (("cos", np.cos), ("sin", np.sin))


def fused_attention(graph, value, layer, config, weights, tables):
    """The same in one node of ONNX Runtime, which turns positions itself; rows must be padded on the right."""
    prefix = f"model.layers.{layer}.self_attn"
    queries, keys, new = (linear(graph, value, f"{prefix}.{name}_proj.weight", weights) for name in "qkv")
    names = [f"{part}.{layer}.{kind}" for part in ("past_key_values", "present") for kind in ("key", "value")]
    mixed = graph.op(
        "GroupQueryAttention",
        *(queries, keys, new, *names[:2], *tables),
        out=f"mixed_{layer}",
        also=names[2:],
        domain=MICROSOFT,
        num_heads=config["num_attention_heads"],
        kv_num_heads=config["num_key_value_heads"],
        do_rotary=1,
    )
    return linear(graph, mixed, f"{prefix}.o_proj.weight", weights)


def feed_forward(graph, value, layer, weights):
    prefix = f"model.layers.{layer}.mlp"
    gate = linear(graph, value, f"{prefix}.gate_proj.weight", weights)
    gate = graph.op("Mul", gate, graph.op("Sigmoid", gate))
    up = linear(graph, value, f"{prefix}.up_proj.weight", weights)
    return linear(graph, graph.op("Mul", gate, up), f"{prefix}.down_proj.weight", weights)


def describe_inputs(config, fused, embedded):
    def ids(name, length):
        return helper.make_tensor_value_info(name, TensorProto.INT64, ["batch_size", length])

    shape = ["batch_size", "sequence_length", config["hidden_size"]]
    rows = helper.make_tensor_value_info("inputs_embeds", TensorProto.FLOAT, shape)
    inputs = [
        rows if embedded else ids("input_ids", "sequence_length"),
        ids("attention_mask", "total_sequence_length"),
    ]
    if not fused:
        inputs.append(ids("position_ids", "sequence_length"))
    return inputs + cache_values(config, "past_key_values", "past_sequence_length")


def cache_values(config, prefix, length):
    shape = ["batch_size", config["num_key_value_heads"], length, config["head_dim"]]
    return [
        helper.make_tensor_value_info(f"{prefix}.{layer}.{part}", TensorProto.FLOAT, shape)
        for layer in range(config["num_hidden_layers"])
        for part in ("key", "value")
    ]


def build_embeddings(config, weights):
    """input_ids -> inputs_embeds, for a decoder that was built with `embedded`."""
    graph = Graph()
    table = graph.weight("model.embed_tokens.weight", weights["model.embed_tokens.weight"])
    graph.op("Gather", table, "input_ids", out="inputs_embeds")
    tokens = ["batch_size", "sequence_length"]
    return graph.model(
        "embeddings",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, tokens)],
        [helper.make_tensor_value_info("inputs_embeds", TensorProto.FLOAT, [*tokens, config["hidden_size"]])],
    )


def build(config, weights, fused=False, embedded=False):
    """`config` is a Llama config.json; `weights` are numpy arrays under their transformers names.

    `fused` uses ONNX Runtime's GroupQueryAttention, as its own model builder does; `embedded` takes embeddings in
    place of tokens.
    """
    graph = Graph()
    epsilon = config["rms_norm_eps"]
    if embedded:
        value = "inputs_embeds"
    else:
        embedding = graph.weight("model.embed_tokens.weight", weights["model.embed_tokens.weight"])
        value = graph.op("Gather", embedding, "input_ids")
    if fused:
        attend, shared = fused_attention, [fused_tables(graph, config)]
    else:
        attend = attention
        shared = [rotary_tables(graph, config["head_dim"], config["rope_theta"]), attention_bias(graph, "inputs_embeds" if embedded else "input_ids")]

    def normed(name):
        return rms_norm(graph, value, graph.weight(name, weights[name]), epsilon)

    for layer in range(config["num_hidden_layers"]):
        prefix = f"model.layers.{layer}"
        before = normed(f"{prefix}.input_layernorm.weight")
        value = graph.op("Add", value, attend(graph, before, layer, config, weights, *shared))
        before = normed(f"{prefix}.post_attention_layernorm.weight")
        value = graph.op("Add", value, feed_forward(graph, before, layer, weights))
    value = normed("model.norm.weight")
    if config["tie_word_embeddings"]:
        # The output layer is the embedding turned round; a runtime does that once, when it loads the file.
        output = graph.op("Transpose", embedding, perm=[1, 0])
    else:
        output = graph.weight("lm_head.weight", weights["lm_head.weight"].T)
    graph.op("MatMul", value, output, out="logits")
    logits = helper.make_tensor_value_info(
        "logits", TensorProto.FLOAT, ["batch_size", "sequence_length", config["vocab_size"]]
    )
    outputs = [logits] + cache_values(config, "present", "total_sequence_length")
    return graph.model("llama", describe_inputs(config, fused, embedded), outputs)
