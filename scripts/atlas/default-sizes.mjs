/**
 * Writes scripts/atlas/default-sizes.json: what the plan says of each checkpoint that scripts/atlas/default_checkpoints.py prints: parameters, bytes of
 * its weights and of the server's memory, or why it is refused. Reads those lines from standard input. Needs `make build` and the fixtures.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { forecastFormats } from '../../dist/builder/plan/forecast.js';
import { planModel } from '../../dist/builder/plan/index.js';
import { Refusal } from '../../dist/builder/plan/refusal.js';
import { StoreError } from '../../dist/runtime/store/errors.js';
import { verdict } from './page.mjs';

const OUT = 'scripts/atlas/default-sizes.json';

/** No plan reads the words of a tokenizer. */
const TOKENIZER = 'test/fixtures/zoo-v5/text-generation/youtu/repo';
const TEXTS = ['tokenizer.json', 'tokenizer_config.json'].map((name) => [
  name,
  readFileSync(`${TOKENIZER}/${name}`),
]);

const BYTES = { F32: 4, F16: 2, BF16: 2, I64: 8, BOOL: 1 };

/** The beginning of a safetensors file, and the length of the whole. */
function weightsOf(tensors) {
  let at = 0;
  const entries = Object.entries(tensors).map(([name, [dtype, shape]]) => {
    const start = at;
    at += shape.reduce((product, size) => product * size, BYTES[dtype]);
    return [name, { dtype, shape, data_offsets: [start, at] }];
  });
  const header = Buffer.from(JSON.stringify(Object.fromEntries(entries)));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return { head: Buffer.concat([length, header]), size: 8 + header.length + at };
}

/** A repository that has the beginnings of its files only: plans read no more. */
function sourceOf({ config, tensors, preprocessor }) {
  const json = (value) => Buffer.from(JSON.stringify(value));
  const { head, size } = weightsOf(tensors);
  const files = new Map([
    ['config.json', json(config)],
    ['model.safetensors', head],
    ...TEXTS,
    ...(preprocessor ? [['preprocessor_config.json', json(preprocessor)]] : []),
  ]);
  const listed = [...files].map(([path, bytes]) => ({
    path,
    size: path === 'model.safetensors' ? size : bytes.length,
    hash: { algorithm: 'sha256', value: '0'.repeat(64) },
  }));
  return {
    info: async (id) => ({
      ...{ id, revision: 'main', commit: '0'.repeat(40), tags: [], gated: false, files: listed },
    }),
    readText: async (_info, path) => files.get(path)?.toString(),
    // All numbers are zero.
    read: async (_ref, { path }, { offset, length }) => {
      const part = files.get(path).subarray(offset, offset + length);
      return Buffer.concat([part], length);
    },
    open() {
      throw new Error('a plan reads no whole file');
    },
  };
}

async function said({ task, type, error, ...checkpoint }) {
  if (error !== undefined) return { error };
  try {
    const plan = await planModel({ source: sourceOf(checkpoint), id: `default/${type}`, task });
    const [{ bytes, memory }] = forecastFormats(plan, 2);
    return { parameters: plan.parameters, bytes, peakBytes: memory?.peakBytes };
  } catch (problem) {
    if (!(problem instanceof Refusal || problem instanceof StoreError)) throw problem;
    return { refused: problem.message.replace(`default/${type}: `, '') };
  }
}

const tasks = {};
for await (const line of createInterface({ input: process.stdin })) {
  const { task, type, ...rest } = JSON.parse(line);
  // docs/atlas.md tells the types that have no writer by itself.
  if (verdict(task, type).kind === 'written')
    (tasks[task] ??= {})[type] = await said({ task, type, ...rest });
}
writeFileSync(OUT, `${JSON.stringify(tasks, undefined, 1)}\n`);
