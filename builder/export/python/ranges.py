"""Ranges of fractions as torch computes them: ONNX adds the step again and again, and errs in the last digits."""


def keep_ranges(module, feeds):
    """Runs a module once, and has its ranges of fractions be constants from then on: this process traces it next."""
    import torch

    kept, make = {}, torch.arange

    def is_constant(args):
        return any(isinstance(one, float) for one in args) and all(isinstance(one, (int, float)) for one in args)

    def noted(*args, **options):
        found = make(*args, **options)
        if is_constant(args):
            kept[args] = found.tolist()
        return found

    def constant(*args, **options):
        known = kept.get(args) if is_constant(args) else None
        return make(*args, **options) if known is None else torch.tensor(known, dtype=options.get("dtype"))

    torch.arange = noted
    with torch.no_grad():
        module(**feeds)
    torch.arange = constant
