import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { planModel, Refusal } from '../../../../builder/plan/index.js';
import { folderSource } from '../../../../runtime/store/folder.js';
import { drawnCheckpoint } from '../../../helpers/gguf/checkpoint.js';
import { StoreError } from '../../../../runtime/store/errors.js';
import { ggufOfModel } from '../../../helpers/gguf/from-model.js';
import { type GgufParts, readGgufParts, rewritten, type Value } from '../../../helpers/gguf/rewrite-gguf.js';
import type { Typed } from '../../../helpers/gguf/write-gguf.js';

/** A plan of a drawn model over a file with other metadata. */
async function planned(name: string, metadata: Record<string, Typed>, engine?: 'own') {
  const { config, tensors } = await drawnCheckpoint(name);
  const dir = await mkdtemp(join(tmpdir(), 'keys-'));
  await writeFile(join(dir, 'm.gguf'), ggufOfModel({ config, tensors, metadata }));
  return planModel({ source: folderSource(dir), id: 'o/x', ...(engine ? { engine } : {}) });
}

const count = (value: number): Typed => ({ type: 'u32', value });
const float = (value: number): Typed => ({ type: 'f32', value });
const text = (value: string): Typed => ({ type: 'string', value });
const flag = (value: boolean): Typed => ({ type: 'bool', value });

const YARN = { 'llama.rope.scaling.type': text('yarn'), 'llama.rope.scaling.factor': float(4) };
const LENGTH = { 'llama.rope.scaling.original_context_length': count(16) };

const REFUSED: readonly (readonly [model: string, metadata: Record<string, Typed>, said: string])[] = [
  ['llama', { 'llama.attention.sliding_window': count(4) }, 'llama.attention.sliding_window, which nothing'],
  ['llama', { 'llama.rope.dimension_count': count(4) }, 'llama.rope.dimension_count, which nothing reads'],
  ['llama', { 'llama.attention.value_length': count(4) }, 'llama.attention.value_length, which nothing'],
  ['llama', { 'llama.attention.causal': flag(false) }, 'llama.attention.causal, which nothing reads'],
  ['llama', { 'llama.logit_scale': float(2) }, 'llama.logit_scale, which nothing reads'],
  ['llama', { 'llama.setting_to_come': flag(true) }, 'llama.setting_to_come, which nothing reads'],
  ['llama', { ...YARN, ...LENGTH, 'llama.rope.scaling.yarn_ext_factor': float(2) }, 'yarn_ext_factor'],
  [
    'llama',
    { ...YARN, ...LENGTH, 'llama.rope.scaling.yarn_log_multiplier': float(2) },
    'yarn_log_multiplier',
  ],
  ['llama', { ...YARN, ...LENGTH, 'llama.rope.scaling.yarn_attn_factor': text('2') }, 'has no number as'],
  ['olmoe', { 'olmoe.expert_gating_func': count(2) }, 'olmoe.expert_gating_func, which nothing reads'],
  ['olmoe', { 'olmoe.attention.clamp_kqv': float(1) }, 'olmoe.attention.clamp_kqv, which nothing reads'],
  ['glm4', { 'glm4.rope.dimension_sections': count(3) }, 'counts its positions on several axes'],
  ['cohere2', { 'cohere2.logit_scale': text('1') }, 'has no number as cohere2.logit_scale'],
  [
    'nemotron',
    { 'nemotron.rope.scaling.type': text('linear'), 'nemotron.rope.scaling.factor': float(2) },
    'scales its',
  ],
];

test.each(REFUSED)('%s with %j is refused by graphs of ours', async (model, metadata, said) => {
  const refused = await planned(model, metadata, 'own').catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(Refusal);
  expect((refused as Error).message).toContain(said);
});

test('what graphs of ours refuse is left to llama.cpp where nobody has asked for them', async () => {
  const { spec, reasons } = await planned('llama', { 'llama.setting_to_come': flag(true) });
  expect(spec.engine).toBe('llama');
  expect(reasons.join('\n')).toContain('llama.setting_to_come, which nothing reads');
});

test.each([
  ['llama', { 'llama.expert_count': count(0), 'llama.attention.causal': flag(true) }],
  ['olmoe', { 'olmoe.expert_gating_func': count(1) }],
] as const)('%s with %j is served', async (model, metadata) => {
  expect((await planned(model, metadata, 'own')).spec.engine).toBe('generation');
});

test('OLMo 2 with a window is OLMo 3', async () => {
  expect((await planned('olmo3', {}, 'own')).spec.modelType).toBe('olmo3');
  expect((await planned('olmo2', {}, 'own')).spec.modelType).toBe('olmo2');
});

test.each(['long', 'short'])('longrope without its %s factors is refused', async (length) => {
  const { config, tensors } = await drawnCheckpoint('phi3-longrope');
  const scaling = { ...(config['rope_scaling'] as object), [`${length}_factor`]: null };
  const dir = await mkdtemp(join(tmpdir(), 'keys-'));
  const file = ggufOfModel({ config: { ...config, rope_scaling: scaling }, tensors });
  await writeFile(join(dir, 'm.gguf'), file);
  await expect(planModel({ source: folderSource(dir), id: 'o/x', engine: 'own' })).rejects.toThrow(
    `has no tensor rope_factors_${length}.weight`,
  );
});

const STRANGE: readonly Value[] = [
  ...[0, 3, 4_000_000_000, 'x', true],
  ...[NaN, Infinity, -1, 0.5].map((value): Value => ({ type: 'f32', value })),
  { type: 'list', of: 'i32', value: [] },
  { type: 'list', of: 'bool', value: [true] },
];

/** Files with one thing that is other: keys that are missing, keys of strange values, tensors that are missing or have no sizes. */
function* damaged({ metadata, tensors }: GgufParts): Generator<GgufParts> {
  const own = `${String(metadata['general.architecture'])}.`;
  for (const key of Object.keys(metadata).filter((name) => name.startsWith(own))) {
    const { [key]: _, ...others } = metadata;
    yield { metadata: others, tensors };
    for (const value of STRANGE) yield { metadata: { ...others, [key]: value }, tensors };
  }
  const empty = { shape: [], type: 'F32', data: Buffer.alloc(4) };
  for (const { name } of tensors) {
    yield { metadata, tensors: tensors.filter((one) => one.name !== name) };
    yield { metadata, tensors: tensors.map((one) => (one.name === name ? { ...one, ...empty } : one)) };
  }
}

test.each(['glm4', 'cohere2', 'olmoe', 'nemotron', 'phi3-longrope'])(
  'a file of %s that is damaged is planned or refused by name',
  async (name) => {
    const { config, tensors } = await drawnCheckpoint(name);
    const dir = await mkdtemp(join(tmpdir(), 'keys-'));
    const path = join(dir, 'm.gguf');
    await writeFile(path, ggufOfModel({ config, tensors }));
    let refusals = 0;
    for (const parts of [...damaged(await readGgufParts(path))]) {
      await writeFile(path, rewritten(parts));
      const found = await planModel({ source: folderSource(dir), id: 'o/x', engine: 'own' }).catch(
        (error: unknown) => error,
      );
      if (!(found instanceof Error)) continue;
      refusals++;
      if (!(found instanceof Refusal) && !(found instanceof StoreError)) throw found;
    }
    expect(refusals).toBeGreaterThan(80);
  },
);

test.each([
  [[3_000_000_000, 0], 'has 3000000000 matrices for'],
  [[0, 40, 32], 'has 0 matrices for'],
  [[5, 0, 32], 'but config.json makes it [40, 32]'],
])('a stack of experts of the sizes %j is refused', async (shape, said) => {
  const { config, tensors } = await drawnCheckpoint('olmoe');
  const dir = await mkdtemp(join(tmpdir(), 'keys-'));
  const path = join(dir, 'm.gguf');
  await writeFile(path, ggufOfModel({ config, tensors }));
  const parts = await readGgufParts(path);
  const stack = parts.tensors.find(({ name }) => name === 'blk.0.ffn_gate_exps.weight')!;
  Object.assign(stack, { shape, type: 'F32', data: Buffer.alloc(0) });
  await writeFile(path, rewritten(parts));
  const refused = planModel({ source: folderSource(dir), id: 'o/x', engine: 'own' });
  await expect(refused).rejects.toThrow(said);
});
