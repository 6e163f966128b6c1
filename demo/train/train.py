"""Trains the demo model, writes it in hub layout, and checks the result.

    python train.py             train, export, check (the whole way)
    python train.py --sample    print what the model in ../model answers

Everything is seeded; the same package versions on the same kind of processor
give the same model.
"""

import argparse
import json
import random
import shutil
import sys
import time
from pathlib import Path

import grammar
import numpy as np
import onnxruntime

HERE = Path(__file__).resolve().parent
MODEL_DIR = HERE.parent / "model"
sys.path.insert(0, str(HERE.parent.parent / "scripts" / "models"))

SEED = 20240607
THREADS = 2
EXAMPLES = 230_000
VOCABULARY = 1024
CONTEXT = 256
BATCH_TOKENS = 4096
PEAK_RATE = 4e-3
WARMUP = 100
SIZE_LIMIT = 2_900_000
MAX_NEW_TOKENS = 80
PAD, BOS, EOS = 0, 1, 2
SPECIALS = ["<pad>", "<s>", "</s>"]
IGNORED = -100

PROMPTS = ["The old boat", "Once upon a time", "The captain", "Hello", "In the morning", "My cat"]
ODD_PROMPTS = [
    "the lighthouse keeper ",
    "What is Docker?",
    "Tell me a story about a seal",
    "A dragon",
    "print(1 + 1)",
]

# ---------------------------------------------------------------- tokenizer


def train_tokenizer():
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    rng = random.Random(SEED)
    corpus = [augment(rng, grammar.clean_story(rng)) for _ in range(20_000)]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=SPECIALS,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(corpus, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s> $B:1", special_tokens=[("<s>", BOS)]
    )
    return tokenizer


# ---------------------------------------------------------------- examples


def augment(rng, text):
    """Prompts do not always begin where a story begins, nor with a capital letter."""
    chance = rng.random()
    if chance < 0.15:
        words = text.split(" ")
        return " ".join(words[rng.randint(1, max(1, len(words) // 2)) :])
    if chance < 0.28:
        return text[0].lower() + text[1:]
    if chance < 0.33:
        cut = rng.randint(1, len(text))
        return text[:cut].lower() + text[cut:]
    return text


def cut_prompt(rng, text):
    """A prompt may stop anywhere, also inside a word or after a blank."""
    chance = rng.random()
    if chance < 0.16:
        cut = rng.randint(1, len(text) - 1)
    elif chance < 0.26 and " " in text[:-1]:
        cut = rng.choice([index + 1 for index, letter in enumerate(text[:-1]) if letter == " "])
    else:
        return [text]
    return [text[:cut], text[cut:]]


def draw_example(rng):
    """Pieces of text to be tokenized one by one; the first `unlearned` are prompt only."""
    chance = rng.random()
    if chance < 0.13:
        prompt, reply = grammar.odd_example(rng)
        return [prompt] + cut_prompt(rng, reply), 1
    text = augment(rng, grammar.clean_story(rng))
    if chance < 0.18:
        # A long prompt of several stories; only the last one is learned, and that it ends.
        before = " ".join(grammar.clean_story(rng) for _ in range(rng.randint(1, 4)))
        return [before, " " + text], 1
    return cut_prompt(rng, text), 0


def encode_examples(tokenizer, rng, count):
    """Token ids and labels of every example."""
    drawn = [draw_example(rng) for _ in range(count)]
    pieces = [piece for parts, _ in drawn for piece in parts]
    ids = iter([encoding.ids for encoding in tokenizer.encode_batch(pieces, add_special_tokens=False)])
    examples = []
    for parts, unlearned in drawn:
        # Some programs leave the BOS token away; the model should not mind.
        tokens = [] if rng.random() < 0.05 else [BOS]
        labels = [IGNORED] * len(tokens)
        for index in range(len(parts)):
            piece = next(ids)
            tokens = tokens + piece
            labels = labels + ([IGNORED] * len(piece) if index < unlearned else piece)
        tokens, labels = tokens + [EOS], labels + [EOS]
        examples.append((tokens[-CONTEXT:], labels[-CONTEXT:]))
    return examples


def make_batches(rng, examples):
    """Batches of about BATCH_TOKENS tokens, each of examples with like lengths."""
    batches, chunk = [], 4096
    for start in range(0, len(examples), chunk):
        batch = []
        for example in sorted(examples[start : start + chunk], key=lambda item: len(item[0])):
            if batch and (len(batch) + 1) * len(example[0]) > BATCH_TOKENS:
                batches.append(batch)
                batch = []
            batch.append(example)
        batches.append(batch)
    rng.shuffle(batches)
    return batches


# ---------------------------------------------------------------- training


def make_model():
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=128,
        intermediate_size=224,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,
        max_position_embeddings=CONTEXT,
        rms_norm_eps=1e-5,
        rope_theta=10000.0,
        tie_word_embeddings=True,
        bos_token_id=BOS,
        eos_token_id=EOS,
        pad_token_id=PAD,
    )
    return LlamaForCausalLM(config)


def padded(batch, torch):
    length = max(len(tokens) for tokens, _ in batch)
    inputs = torch.full((len(batch), length), PAD)
    labels = torch.full((len(batch), length), IGNORED)
    for row, (tokens, wanted) in enumerate(batch):
        inputs[row, : len(tokens)] = torch.tensor(tokens)
        labels[row, : len(tokens)] = torch.tensor(wanted)
    return inputs, labels


def rate_at(step, steps):
    """Linear warm-up, then a cosine down to a hundredth."""
    if step < WARMUP:
        return PEAK_RATE * (step + 1) / WARMUP
    progress = (step - WARMUP) / max(1, steps - WARMUP)
    return PEAK_RATE * (0.01 + 0.99 * 0.5 * (1 + np.cos(np.pi * progress)))


def train(tokenizer, count, torch):
    rng = random.Random(SEED + 1)
    batches = make_batches(rng, encode_examples(tokenizer, rng, count))
    torch.manual_seed(SEED)
    model = make_model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=PEAK_RATE, betas=(0.9, 0.98), weight_decay=0.05)
    started, average = time.time(), None
    for step, batch in enumerate(batches):
        for group in optimizer.param_groups:
            group["lr"] = rate_at(step, len(batches))
        inputs, labels = padded(batch, torch)
        # Padding stands at the end, where the causal mask already hides it.
        loss = model(input_ids=inputs, labels=labels, use_cache=False).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        average = loss.item() if average is None else 0.98 * average + 0.02 * loss.item()
        if step % 100 == 0 or step == len(batches) - 1:
            print(
                f"step {step}/{len(batches)}  loss {average:.3f}  {time.time() - started:.0f} s", flush=True
            )
    return model.eval()


# ---------------------------------------------------------------- export


CONFIG_KEYS = """model_type vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads
num_key_value_heads head_dim hidden_act max_position_embeddings initializer_range rms_norm_eps rope_theta
rope_scaling attention_bias attention_dropout mlp_bias pretraining_tp tie_word_embeddings use_cache
bos_token_id eos_token_id pad_token_id""".split()


def export(model, tokenizer, folder):
    import llama_graph
    import transformers
    from graph_tools import save_model, write_json

    shutil.rmtree(folder / "onnx", ignore_errors=True)
    config = {key: getattr(model.config, key) for key in CONFIG_KEYS}
    config.update(architectures=["LlamaForCausalLM"], torch_dtype="float32")
    config["transformers_version"] = transformers.__version__
    write_json(folder / "config.json", config)
    generation = {
        "bos_token_id": BOS,
        "eos_token_id": EOS,
        "pad_token_id": PAD,
        "do_sample": False,
        "max_new_tokens": MAX_NEW_TOKENS,
        "transformers_version": transformers.__version__,
    }
    write_json(folder / "generation_config.json", generation)
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    tokenizer_config = {
        # Read by transformers.js, which otherwise leaves the BOS token away when it generates.
        "add_bos_token": True,
        "add_eos_token": False,
        "bos_token": SPECIALS[BOS],
        "clean_up_tokenization_spaces": False,
        "eos_token": SPECIALS[EOS],
        "model_max_length": CONTEXT,
        "pad_token": SPECIALS[PAD],
        "padding_side": "left",
        "tokenizer_class": "PreTrainedTokenizerFast",
    }
    write_json(folder / "tokenizer_config.json", tokenizer_config)
    weights = {name: tensor.detach().numpy() for name, tensor in model.state_dict().items()}
    save_model(llama_graph.build(config, weights), folder / "onnx" / "model.onnx")
    shutil.copyfile(HERE / "model_card.md", folder / "README.md")


# ---------------------------------------------------------------- the exported model


class Decoder:
    """The ONNX file as a runtime sees it: one call for the prompt, then one per token."""

    def __init__(self, folder):
        from tokenizers import Tokenizer

        self.config = json.loads((folder / "config.json").read_text())
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.session = onnxruntime.InferenceSession(
            str(folder / "onnx" / "model.onnx"), providers=["CPUExecutionProvider"]
        )

    def empty_cache(self, rows=1):
        shape = (rows, self.config["num_key_value_heads"], 0, self.config["head_dim"])
        layers = range(self.config["num_hidden_layers"])
        return {
            f"{layer}.{part}": np.zeros(shape, np.float32) for layer in layers for part in ("key", "value")
        }

    def step(self, tokens, mask, positions, cache):
        feeds = {"input_ids": tokens, "attention_mask": mask, "position_ids": positions}
        feeds = {name: np.asarray(value, np.int64) for name, value in feeds.items()}
        feeds.update({f"past_key_values.{name}": value for name, value in cache.items()})
        names = [output.name for output in self.session.get_outputs()]
        outputs = dict(zip(names, self.session.run(names, feeds)))
        return outputs["logits"], {name: outputs[f"present.{name}"] for name in cache}

    def generate(self, prompt, choose):
        """The tokens after the prompt, until EOS, and the logits behind each."""
        tokens = self.tokenizer.encode(prompt).ids
        cache, fresh, new, seen = self.empty_cache(), tokens, [], []
        while len(new) < MAX_NEW_TOKENS:
            done = len(tokens) - len(fresh)
            positions = [list(range(done, len(tokens)))]
            logits, cache = self.step([fresh], [[1] * len(tokens)], positions, cache)
            seen.append(logits[0, -1])
            new.append(int(choose(logits[0, -1])))
            if new[-1] == EOS:
                break
            fresh = [new[-1]]
            tokens = tokens + fresh
        return new, seen

    def text(self, prompt, choose):
        new, _ = self.generate(prompt, choose)
        end = "" if new[-1] == EOS else " [no end]"
        return prompt + self.tokenizer.decode(new) + end


def sampler(seed, temperature):
    generator = np.random.default_rng(seed)

    def choose(logits):
        weights = np.exp((logits - logits.max()) / temperature)
        return generator.choice(len(logits), p=weights / weights.sum())

    return choose


# ---------------------------------------------------------------- checks


def check_same_as_torch(decoder, model, prompts, torch):
    """Greedy decoding with the ONNX cache must follow PyTorch token by token."""
    for prompt in prompts:
        tokens = decoder.tokenizer.encode(prompt).ids
        new, seen = decoder.generate(prompt, np.argmax)
        with torch.no_grad():
            wanted = model.generate(
                torch.tensor([tokens]),
                attention_mask=torch.ones(1, len(tokens), dtype=torch.long),
                do_sample=False,
                max_new_tokens=MAX_NEW_TOKENS,
            )[0, len(tokens) :].tolist()
            full = model(torch.tensor([tokens + new])).logits[0, len(tokens) - 1 : -1].numpy()
        if new != wanted:
            sys.exit(f"ONNX and PyTorch differ after {prompt!r}:\n  {new}\n  {wanted}")
        difference = float(np.abs(np.stack(seen) - full).max())
        if difference > 1e-3:
            sys.exit(f"the logits differ by {difference} after {prompt!r}")
    print(f"ONNX equals PyTorch for {len(prompts)} prompts")


def check_padding(decoder):
    """A padded row in a batch must give what the same prompt gives alone."""
    short, long = (
        decoder.tokenizer.encode(prompt).ids for prompt in ("Hello", "Once upon a time, there was")
    )
    gap = len(long) - len(short)
    mask = [[0] * gap + [1] * len(short), [1] * len(long)]
    positions = [[0] * gap + list(range(len(short))), list(range(len(long)))]
    together, _ = decoder.step([[PAD] * gap + short, long], mask, positions, decoder.empty_cache(2))
    alone, _ = decoder.step([short], [[1] * len(short)], [list(range(len(short)))], decoder.empty_cache())
    if np.abs(together[0, -1] - alone[0, -1]).max() > 1e-3:
        sys.exit("a padded row gives other logits than the same row alone")
    print("padded batches agree with single prompts")


def check_answers_end(decoder, prompts):
    answers = 0
    for prompt in prompts:
        for seed in range(20):
            new, _ = decoder.generate(prompt, sampler(seed, 0.8))
            answers += new[-1] == EOS
    share = answers / (20 * len(prompts))
    print(f"{share:.0%} of the sampled answers end by themselves")
    if share < 0.98:
        sys.exit("too many answers do not end")


def check_size(folder):
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{size} bytes in {folder.name}/")
    if size > SIZE_LIMIT:
        sys.exit(f"the model is larger than {SIZE_LIMIT} bytes")


# ---------------------------------------------------------------- commands


def sample(folder):
    decoder = Decoder(folder)
    for prompt in PROMPTS + ODD_PROMPTS:
        print(f"\n{prompt!r}")
        print("  greedy :", decoder.text(prompt, np.argmax))
        for seed in (1, 2):
            print(f"  t=0.8 {seed}:", decoder.text(prompt, sampler(seed, 0.8)))


def make(folder, count):
    import torch

    torch.set_num_threads(THREADS)
    torch.use_deterministic_algorithms(True)
    started = time.time()
    tokenizer = train_tokenizer()
    model = train(tokenizer, count, torch)
    print(f"trained {sum(p.numel() for p in model.parameters())} parameters in {time.time() - started:.0f} s")
    export(model, tokenizer, folder)
    decoder = Decoder(folder)
    check_same_as_torch(decoder, model, PROMPTS + ODD_PROMPTS, torch)
    check_padding(decoder)
    check_size(folder)
    sample(folder)
    check_answers_end(decoder, PROMPTS)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, default=MODEL_DIR, help="folder of the model (default: ../model)")
    parser.add_argument("--examples", type=int, default=EXAMPLES, help="how many examples to train on")
    parser.add_argument("--sample", action="store_true", help="only print answers of the model in --out")
    options = parser.parse_args()
    if options.sample:
        sample(options.out)
    else:
        make(options.out, options.examples)


if __name__ == "__main__":
    main()
