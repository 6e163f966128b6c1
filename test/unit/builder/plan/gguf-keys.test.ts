import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { planModel, Refusal } from '../../../../builder/plan/index.js';
import { folderSource } from '../../../../runtime/store/folder.js';
import { drawnCheckpoint } from '../../../helpers/gguf/checkpoint.js';
import { ggufOfModel } from '../../../helpers/gguf/from-model.js';
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
