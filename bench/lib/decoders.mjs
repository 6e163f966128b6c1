/** Contestants that stream a continuation. `model` is { dir, dtype } with dtype fp32, q8 or q4. */
import { execFileSync, fork } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { startServer } from '../lib.mjs';
import { installedPeer, serverNode, startProcess } from './processes.mjs';

const CORES = availableParallelism();

/** As transformers.js and optimum name the files. */
const GRAPHS = { fp32: 'onnx/model.onnx', q8: 'onnx/model_quantized.onnx', q4: 'onnx/model_q4.onnx' };

/** Tokens of every answer. */
export const NEW_TOKENS = 32;

const json = (path, body) => ({ path, body: JSON.stringify(body) });

export function slipway({ dir, dtype }) {
  const params = { max_new_tokens: NEW_TOKENS, return_full_text: false };
  const model = { task: 'text-generation', engine: 'generation', dtype, graphs: { model: GRAPHS[dtype] } };
  return {
    name: 'slipway',
    start: () => startServer({ dir, node: serverNode(), ...model }),
    request: (text) => json('/run', { text, stream: true, params }),
    parse: (body) => body,
  };
}

export function naive({ dir, dtype }) {
  return {
    name: 'naive',
    start() {
      const cwd = installedPeer('naive');
      const env = { TASK: 'text-generation', MODEL: dir, DTYPE: dtype };
      const command = serverNode();
      const args = ['server.mjs'];
      return startProcess((port) => ({ command, args, cwd, env: { ...env, PORT: String(port) } }));
    },
    request: (text) => json('/run', { text, max_new_tokens: NEW_TOKENS }),
    parse: (body) => body,
  };
}

/** A Python that has a package; peers/requirements.txt lists them. Compiling llama.cpp takes long, so it isn't done here. */
function missingPackage(name) {
  const python = process.env.PEERS_PYTHON;
  if (!python) return 'PEERS_PYTHON is not set';
  try {
    execFileSync(python, ['-c', `import ${name}`], { stdio: 'ignore' });
    return undefined;
  } catch {
    return `PEERS_PYTHON has no ${name}`;
  }
}

export function genai({ dir, dtype }) {
  const args = (port) => ['bench/peers/genai_server.py', join(dir, GRAPHS[dtype]), dir, String(port)];
  return {
    ...{ name: 'genai', missing: missingPackage('onnxruntime_genai') },
    start: () => startProcess((port) => ({ command: process.env.PEERS_PYTHON, args: args(port) })),
    request: (text) => json('/', { text, max_new_tokens: NEW_TOKENS }),
    parse: (body) => body,
  };
}

export function llamaCpp({ dtype }) {
  const out = resolve('.cache/bench/gguf');
  const file = join(out, `${dtype}.gguf`);
  const flags = ['--n_threads', String(CORES), '--n_threads_batch', String(CORES), '--n_ctx', '1024'];
  // By default that server ends a stream when the next request comes.
  const args = ['-m', 'llama_cpp.server', '--model', file, '--interrupt_requests', 'false', ...flags];
  return {
    ...{ name: 'llama.cpp', missing: missingPackage('llama_cpp.server') },
    start() {
      const command = process.env.PEERS_PYTHON;
      const make = ['bench/peers/make_gguf.py', resolve('.cache/bench/bench_decoder'), out];
      if (!existsSync(file)) execFileSync(command, make, { stdio: 'ignore' });
      return startProcess((port) => ({ command, args: [...args, '--port', String(port)] }));
    },
    request: (prompt) =>
      json('/v1/completions', {
        prompt,
        max_tokens: NEW_TOKENS,
        temperature: 0,
        top_k: 1,
        repeat_penalty: 1,
        stream: true,
      }),
    parse: textOfEvents,
  };
}

const textOfEvents = (body) =>
  Array.from(body.matchAll(/^data: (\{.*)$/gm), ([, data]) => JSON.parse(data).choices[0].text).join('');

/** One batch of as many rows as there are streams, without a server: a limit for one process. */
export function raw({ dir, dtype }) {
  const config = JSON.parse(readFileSync(join(dir, 'config.json'), 'utf8'));
  const shape = { heads: config.num_key_value_heads, width: config.head_dim };
  const prompt = Array.from({ length: 32 }, (_, i) => 300 + i * 17);
  return {
    name: 'raw',
    cells: ({ newcomer }) => !newcomer,
    start() {
      const child = fork('bench/peers/raw-decoder.mjs', [join(dir, GRAPHS[dtype]), String(CORES)]);
      return { child, stop: () => child.kill() };
    },
    measure: ({ child }, { connections }, seconds) =>
      new Promise((answer, fail) => {
        child.once('message', answer);
        child.once('exit', (code) => fail(new Error(`raw ended with ${code}`)));
        const rows = Array.from({ length: connections }, (_, row) => prompt.map((id) => id + row));
        child.send({ rows, newTokens: NEW_TOKENS, seconds, ...shape });
      }),
  };
}
