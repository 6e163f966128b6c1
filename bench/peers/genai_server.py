"""onnxruntime-genai behind the smallest server that streams: GRAPH FOLDER PORT. One generation at a time."""

import json
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import onnxruntime_genai as genai
from tokenizers import Tokenizer

GRAPH, FOLDER, PORT = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])


def genai_config(config):
    cache = {f"past_{part}_names": f"past_key_values.%d.{part}" for part in ("key", "value")}
    present = {f"present_{part}_names": f"present.%d.{part}" for part in ("key", "value")}
    ids = {name: name for name in ("input_ids", "attention_mask", "position_ids")}
    decoder = {
        "session_options": {},
        "filename": GRAPH.name,
        "head_size": config["head_dim"],
        "hidden_size": config["hidden_size"],
        "num_attention_heads": config["num_attention_heads"],
        "num_hidden_layers": config["num_hidden_layers"],
        "num_key_value_heads": config["num_key_value_heads"],
        "inputs": ids | cache,
        "outputs": {"logits": "logits"} | present,
    }
    model = {
        "type": "llama",
        "decoder": decoder,
        "context_length": config["max_position_embeddings"],
        "vocab_size": config["vocab_size"],
        **{f"{name}_token_id": config[f"{name}_token_id"] for name in ("bos", "eos", "pad")},
    }
    # A shared cache buffer needs GroupQueryAttention.
    return {"model": model, "search": {"past_present_share_buffer": "fused" in str(GRAPH)}}


def load():
    config = json.loads((FOLDER / "config.json").read_text())
    folder = Path(tempfile.mkdtemp(prefix="slipway-genai-"))
    (folder / GRAPH.name).symlink_to(GRAPH.resolve())
    (folder / "genai_config.json").write_text(json.dumps(genai_config(config)))
    return genai.Model(str(folder))


MODEL = load()
TOKENIZER = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
ONE_AT_A_TIME = threading.Lock()


def pieces(text, new_tokens):
    ids = TOKENIZER.encode(text).ids
    params = genai.GeneratorParams(MODEL)
    params.set_search_options(max_length=len(ids) + new_tokens, do_sample=False)
    generator = genai.Generator(MODEL, params)
    generator.append_tokens(ids)
    done, sent = [], ""
    while not generator.is_done() and len(done) < new_tokens:
        generator.generate_next_token()
        done.append(int(generator.get_next_tokens()[0]))
        whole = TOKENIZER.decode(done)
        yield whole[len(sent) :]
        sent = whole


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        self.send_header("content-type", "text/plain; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        with ONE_AT_A_TIME:
            for piece in pieces(body["text"], body["max_new_tokens"]):
                data = piece.encode()
                if data:
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.write(b"0\r\n\r\n")


ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
