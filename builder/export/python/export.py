"""Exports one network of transformers as an ONNX graph, with inputs and torch's outputs to check it by.

Reads a job as one line of JSON from standard input (builder/export/job.ts has its form) and writes into the job's
folder: model.onnx, model.onnx.data, probes.safetensors, report.json. It knows no architecture: what is fed, which axes
are free and which class is loaded stand in the job. Ends with 0, or with 3 and a sentence in report.json where this
network can't be exported. Standard input stays open: when it closes, the caller has gone, and this process ends.
"""

import json
import os
import signal
import sys
import threading

import chats
from decoders import decoder_probes, decoder_step
from encoder_decoders import free_axes, part_of, part_probes
from samples import Refused, check_inputs, sample

REFUSED = 3


def end_with_caller():
    sys.stdin.read()
    os.killpg(os.getpgid(0), signal.SIGKILL)


def versions():
    from importlib.metadata import version

    names = ["transformers", "torch", "onnx", "onnxscript", "onnx_ir"]
    return {name: version(name).partition("+")[0] for name in names}


def load(job):
    """The network with exactly the checkpoint's weights, in float32."""
    import torch
    import transformers

    where = {"trust_remote_code": False, "local_files_only": True}
    config = transformers.AutoConfig.from_pretrained(job["model"], **where)
    if config.model_type != job["modelType"]:
        raise Refused(f"transformers reads it as {config.model_type}, not as {job['modelType']}")
    for name, value in job["config"].items():
        setattr(config, name, value)
    loader = getattr(transformers, job["class"])
    options = {"config": config, "dtype": torch.float32, "use_safetensors": True, "output_loading_info": True}
    model, found = loader.from_pretrained(job["model"], **where, **options)
    missing = [name for name in sorted(found["missing_keys"]) if not any(part in name for part in job["mayMiss"])]
    if missing:
        raise Refused(f"the checkpoint has no {', '.join(missing[:5])} for {type(model).__name__}")
    if found["mismatched_keys"]:
        names = sorted(str(entry[0] if isinstance(entry, tuple) else entry) for entry in found["mismatched_keys"])
        raise Refused(f"the checkpoint's {', '.join(names[:5])} are of another size than config.json says")
    return model.eval()


def export(job, model):
    import torch
    from transformers.exporters import OnnxConfig, OnnxExporter
    from transformers.exporters import onnxruntime_fusions as fusions

    # They copy weights into larger tensors, which then are not the checkpoint's.
    packing = {"_pack_sibling_matmuls", "_pack_group_query_attention_inputs"}
    kept = [step for step in fusions._STEPS if getattr(step[0], "__name__", "") not in packing]
    if len(kept) != len(fusions._STEPS) - len(packing):
        raise Refused("these versions pack weights by other steps")
    fusions._STEPS = tuple(kept)
    auto = torch.export.Dim.AUTO
    if job["part"] in chats.PARTS:
        model, feeds, free = chats.part_of(job, model)
    elif job["part"]:
        model, feeds, _ = part_of(job, model, job["traced"], seed=1)
        free = free_axes(feeds)
    elif job["decoder"]:
        model, feeds, free = decoder_step(job, model)
    else:
        feeds, _ = sample(job, job["traced"], seed=1)
        free = {name: {i: auto for i, axis in enumerate(job["inputs"][name]["axes"]) if axis in job["free"]} for name in feeds}
    settings = OnnxConfig(dynamic=True, dynamic_shapes=free, ort_fusions="cpu" if job["fusions"] else None)
    return OnnxExporter().export(model, feeds, settings)


def probes(job, model):
    """Inputs and torch's outputs, as one flat set of tensors: `0/in/input_ids`, `0/out/logits`, `0/real`."""
    import torch
    from transformers.exporters.utils import get_leaf_tensors

    found = {}
    for number, sizes in enumerate(job["probes"]):
        feeds, real = sample(job, sizes, seed=100 + number)
        with torch.no_grad():
            answers = get_leaf_tensors(model(**feeds))
        for side, tensors in (("in", feeds), ("out", answers)):
            for name, tensor in tensors.items():
                if side == "in" or name in job["outputs"]:
                    found[f"{number}/{side}/{name}"] = tensor.detach().contiguous().clone()
        found[f"{number}/real"] = real
    return found


def probes_of(job, model):
    if job["part"] in chats.PARTS:
        return chats.part_probes(job, model)
    if job["part"]:
        return part_probes(job, model)
    return decoder_probes(job, model) if job["decoder"] else probes(job, model)


def work(job):
    import torch
    from safetensors.torch import save_file

    torch.set_num_threads(job["threads"])
    torch.manual_seed(0)
    model = load(job)
    check_inputs(job, model)
    save_file(probes_of(job, model), os.path.join(job["out"], "probes.safetensors"))
    # Files of its own format are not needed: only the graph and its weights.
    import onnx_ir

    program = export(job, model)
    graph = program.program if hasattr(program, "program") else program.model
    onnx_ir.save(graph, os.path.join(job["out"], "model.onnx"), external_data="model.onnx.data")
    return {"inputs": sorted(job["inputs"]), "class": type(model).__name__}


def root(error):
    """The first of a chain of errors: torch wraps them in pages of advice."""
    while error.__cause__ or (error.__context__ and not error.__suppress_context__):
        error = error.__cause__ or error.__context__
    return f"{type(error).__name__}: {' '.join(str(error).split())[:400]}"


def main():
    job = json.loads(sys.stdin.readline())
    threading.Thread(target=end_with_caller, daemon=True).start()
    report, code = {"versions": versions()}, 0
    try:
        report.update(work(job))
    except Refused as refused:
        report["refused"], code = str(refused), REFUSED
    except Exception as error:
        import traceback

        traceback.print_exc()
        report["refused"], code = root(error), REFUSED
    with open(os.path.join(job["out"], "report.json"), "w") as file:
        json.dump(report, file)
    sys.stdout.flush()
    sys.stderr.flush()
    # Threads of libraries must not keep what is done.
    os._exit(code)


main()
