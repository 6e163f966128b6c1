"""Graphs of a chat about images: the table of tokens, what makes features of images, a step of the decoder over both."""

import decoders
from ranges import keep_ranges
from samples import Refused, sample

PARTS = ("embed", "image", "decode")
#: Of the largest score: what the parts together may differ by from the whole network
TOLERANCE = 1e-4
ENDLESS = 1e30


def part_of(job, model):
    """A part, what it is fed with, and which axes of that are free."""
    import torch

    if job["part"] == "decode":
        return decode_step(job, model)
    feeds, _ = sample(job, job["traced"], seed=1)
    free = {
        name: {i: torch.export.Dim.AUTO for i, axis in enumerate(job["inputs"][name]["axes"]) if axis in job["free"]} for name in feeds
    }
    part = single(job, model)
    keep_ranges(part, feeds)
    return part, feeds, free


def single(job, model):
    return embedding_of(model) if job["part"] == "embed" else features_of(job, model)


def embedding_of(model):
    import torch

    class Embedding(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = model.get_input_embeddings()

        def forward(self, input_ids):
            return {"inputs_embeds": self.table(input_ids)}

    return Embedding().eval()


class Edges(list):
    """Height and width of each image, as the network asks for them: all of an image is there."""

    def tolist(self):
        return list(self)


def features_of(job, model):
    """What images become in the place of their tokens: [features, width], of one after the other."""
    import torch

    edges, tiles = job["edges"], job["tiles"]

    owner = next((one for one in (model, model.base_model) if hasattr(one, "get_image_features")), None)
    if owner is None:
        raise Refused("it has no features of images by themselves")

    class Features(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = owner

        def forward(self, **images):
            if tiles:
                images[tiles["counts"]] = [images[tiles["of"]].shape[0]]
            if edges:
                first = next(iter(images.values()))
                images[edges] = Edges([[first.shape[-2], first.shape[-1]]] * first.shape[0])
            found = self.model.get_image_features(**images)
            found = getattr(found, "pooler_output", found)
            parts = found if isinstance(found, (list, tuple)) else [found]
            return {"image_features": torch.cat([part.reshape(-1, part.shape[-1]) for part in parts])}

    return Features().eval()


def texts_of(job):
    """The job of a decoder that reads texts alone."""
    return {**job, "inputs": {name: given for name, given in job["inputs"].items() if name not in job["images"]}}


def decode_step(job, model):
    import torch

    step, inputs, free = decoders.decoder_step(texts_of(job), model)
    embedding = embedding_of(model)
    with torch.no_grad():
        inputs["inputs_embeds"] = embedding(inputs.pop("input_ids"))["inputs_embeds"]
    free["inputs_embeds"] = free.pop("input_ids")
    # What the step was called with of images is none.
    for name in [name for name, value in inputs.items() if value is None]:
        del inputs[name]
        free.pop(name, None)
    return step, inputs, free


def part_probes(job, model):
    """Inputs of a part and torch's outputs."""
    import torch

    if job["part"] == "decode":
        check_whole(job, model)
        return embedded(model, decoders.decoder_probes(texts_of(job), model))
    found = {}
    for number, sizes in enumerate(job["probes"]):
        feeds, real = sample(job, sizes, seed=100 + number)
        with torch.no_grad():
            answers = single(job, model)(**feeds)
        for side, tensors in (("in", feeds), ("out", answers)):
            for name, tensor in tensors.items():
                found[f"{number}/{side}/{name}"] = tensor.contiguous().clone()
        found[f"{number}/real"] = real if job["part"] == "embed" else torch.ones(1, 1, dtype=torch.long)
    return found


def embedded(model, probes):
    """Probes of a decoder with vectors in place of tokens."""
    import torch

    embedding = embedding_of(model)
    found = {}
    for name, tensor in probes.items():
        if name.endswith("/in/input_ids"):
            with torch.no_grad():
                name, tensor = name.replace("input_ids", "inputs_embeds"), embedding(tensor)["inputs_embeds"].contiguous().clone()
        found[name] = tensor
    return found


def check_whole(job, model):
    """One and two images between words: the whole network has to say what its parts say together."""
    import torch

    for images in (1, 2):
        sizes = {**job["traced"], **job["image"], "images": images, "tiles": images * job["image"].get("tiles", 1)}
        feeds, _ = sample({**job, "inputs": {name: job["inputs"][name] for name in job["images"]}}, sizes, seed=200 + images)
        with torch.no_grad():
            # Each image has a run of its own.
            alone = [{name: part_for(i, tensor, images) for name, tensor in feeds.items()} for i in range(images)]
            features = [features_of(job, model)(**one)["image_features"] for one in alone]
            ids = words_around(job, [len(one) for one in features])
            mask = torch.ones_like(ids)
            if job["tiles"]:
                feeds[job["tiles"]["counts"]] = torch.full((images,), job["image"]["tiles"])
            if job["edges"]:
                feeds[job["edges"]] = torch.tensor([list(feeds["pixel_values"].shape[-2:])] * images)
            wanted = model(input_ids=ids, attention_mask=mask, use_cache=True, **feeds).logits
            vectors = embedding_of(model)(torch.where(ids == job["token"], torch.zeros_like(ids), ids))["inputs_embeds"]
            vectors[ids == job["token"]] = torch.cat(features).to(vectors.dtype)
            places = torch.arange(ids.shape[1])[None]
            step = {"inputs_embeds": vectors, "attention_mask": mask, "position_ids": places}
            found = decoders.run(model, step).logits
        # Networks give the smallest number to what must not be chosen.
        real = wanted.abs() < ENDLESS
        if not float((wanted - found)[real].abs().max()) <= TOLERANCE * float(wanted[real].abs().max()):
            raise Refused("its images are more than vectors in the place of their tokens")


def part_for(image, tensor, images):
    """What of a tensor is one image's: as many of its rows as the others have."""
    count = len(tensor) // images
    return tensor[image * count : (image + 1) * count]


def words_around(job, counts):
    """A prompt in which images of so many features each stand between words."""
    import torch

    texts, _ = sample(texts_of(job), {"rows": 1, "length": 3 * (len(counts) + 1)}, seed=3)
    words = list(texts["input_ids"].split(3, dim=1))
    parts = [words[0]]
    for count, piece in zip(counts, words[1:]):
        parts += [torch.full((1, count), job["token"]), piece]
    return torch.cat(parts, dim=1)
