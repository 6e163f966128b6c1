"""What a network is fed with to trace it and to probe its graph."""


class Refused(Exception):
    """Why this network can't be exported, for the operator."""


def sample(job, sizes, seed, padded=True):
    """Inputs of these sizes: shorter rows are padded, or the mask would be no part of the graph."""
    import torch

    draw = torch.Generator().manual_seed(seed)
    rows, length = sizes.get("texts", sizes.get("rows", 1)), sizes.get("length", 1)
    real = torch.ones(rows, length, dtype=torch.long)
    for row in range(1, rows if padded else 1):
        kept = max(2, length - 2 * row)
        if job["padding"] == "left":
            real[row, :length - kept] = 0
        else:
            real[row, kept:] = 0
    feeds = {}
    for name, given in job["inputs"].items():
        shape = [sizes[axis] if isinstance(axis, str) else axis for axis in given["axes"]]
        kind = given["kind"]
        if kind == "tokens":
            ids = torch.randint(given["low"], given["high"], shape, generator=draw)
            for avoided in given["avoid"]:
                ids[ids == avoided] = given["low"]
            for place, token in given["fixed"]:
                ids[:, place] = token
            padded_here = "length" in given["axes"]
            feeds[name] = torch.where(real == 1, ids, torch.full_like(ids, given["pad"])) if padded_here else ids
        elif kind == "mask":
            feeds[name] = real.clone()
        elif kind == "segments":
            second = (torch.arange(length) >= length // 2).long().expand(rows, length)
            feeds[name] = second * real
        elif kind == "zeros":
            feeds[name] = torch.zeros(shape, dtype=torch.long)
        elif kind == "corner":
            feeds[name] = corners(shape, draw)
        else:
            feeds[name] = torch.randn(shape, generator=draw)
    return feeds, real


def corners(shape, draw):
    """Of each image: true for what lies in a part of it at the upper left, which is all of it along one edge."""
    import torch

    images, height, width = shape
    found = torch.zeros(shape, dtype=torch.bool)
    for image in found:
        share, wide = torch.rand(2, generator=draw).tolist()
        part = 0.4 + 0.5 * share
        image[: int(height * part) if wide < 0.5 else height, : width if wide < 0.5 else int(width * part)] = True
    return found


def check_inputs(job, model):
    """Leaves out what this class does not take and may be left out."""
    import inspect

    taken = inspect.signature(model.forward).parameters
    for name in [name for name in job["inputs"] if name not in taken]:
        if not job["inputs"][name]["optional"]:
            raise Refused(f"{type(model).__name__} takes no {name}")
        del job["inputs"][name]
