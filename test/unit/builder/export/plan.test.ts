import { planModel } from '../../../../builder/plan/index.js';
import { PINNED } from '../../../../builder/export/versions.js';
import type { ExportChoice } from '../../../../builder/export/choice.js';
import { folderSource } from '../../../../runtime/store/folder.js';
import { folderWith } from '../../store/folders.js';
import { files as bert } from '../plan/models.js';
import { refusal } from '../plan/refusal.js';
import { safetensors } from './exported-graph.js';

const WEIGHTS = safetensors({
  'embeddings.weight': { type: 'BF16', shape: [40, 8], bytes: new Uint8Array(640) },
  'layer.0.weight': { type: 'BF16', shape: [8, 8], bytes: new Uint8Array(128) },
});
const config = (changes: object = {}) =>
  JSON.stringify({
    ...{ architectures: ['NystromformerForSequenceClassification'], model_type: 'nystromformer' },
    ...{ vocab_size: 40, num_hidden_layers: 1, hidden_size: 8, ...changes },
  });
const FILES = { 'config.json': config(), 'tokenizer.json': '{}', 'model.safetensors': WEIGHTS };

async function plan(files: Record<string, string | Uint8Array>, choice?: ExportChoice, more: object = {}) {
  const exports = choice && { choice, versions: PINNED };
  return planModel({ source: folderSource(folderWith(files)), id: 'org/m', exports, ...more });
}

describe('a type without a writer', () => {
  test('is planned as exported, with the versions, over its checkpoint', async () => {
    const { spec, reasons, toExport, parameters } = await plan(FILES, 'auto');
    expect(spec).toMatchObject({
      ...{ dtype: 'bf16', graphs: { model: 'graphs/model.onnx' } },
      exported: { recipe: 1, tools: { transformers: '5.24.0', torch: '2.15.0', onnx: '1.23.2' } },
    });
    expect(spec.written).toBeUndefined();
    expect(spec.files.map(({ path }) => path)).toEqual([
      'config.json',
      'model.safetensors',
      'tokenizer.json',
    ]);
    expect(reasons.join('\n')).toContain('graph: exported by transformers 5.24.0 with torch 2.15.0');
    expect(parameters).toBe(384);
    expect(toExport).toMatchObject({ layers: 1, known: true });
    expect(toExport!.graphs).toMatchObject([
      { role: 'model', path: 'graphs/model.onnx', key: expect.stringMatching(/^[0-9a-f]{16}$/) },
    ]);
  });

  test('the key is of the configuration, the weights and the recipe', async () => {
    const keyOf = async (files: Record<string, string | Uint8Array>) =>
      (await plan(files, 'auto')).toExport!.graphs[0]!.key;
    const other = Uint8Array.from(WEIGHTS);
    other[other.length - 1] = 1;
    const keys = [
      await keyOf(FILES),
      await keyOf({ ...FILES, 'model.safetensors': other }),
      await keyOf({ ...FILES, 'config.json': config({ pad_token_id: 1 }) }),
    ];
    expect(new Set(keys).size).toBe(3);
    expect(await keyOf({ ...FILES, 'README.md': 'other' })).toBe(keys[0]);
  });

  test('is refused without exports, which says what to do', async () => {
    expect(await refusal(plan(FILES))).toContain('no graph can be written for nystromformer; make one');
    expect(await refusal(plan(FILES, 'never'))).toContain('exports are switched off (--export never)');
  });

  test('an untried type is tried only when that is asked for', async () => {
    const files = { ...FILES, 'config.json': config({ model_type: 'odd' }) };
    expect(await refusal(plan(files, 'auto'))).toContain(
      'exports of odd are untried; --export force tries it',
    );
    expect((await plan(files, 'force')).reasons.join('\n')).toContain('this type is untried');
  });

  test('a type whose graphs are wrong is refused with the reason, forced or not', async () => {
    const files = { ...FILES, 'config.json': config({ model_type: 'reformer' }) };
    expect(await refusal(plan(files, 'force'))).toContain(
      "reformer can't be exported: how it computes depends on",
    );
  });

  test('a configuration beyond its checkpoint is refused before anything is loaded', async () => {
    const files = { ...FILES, 'config.json': config({ num_hidden_layers: 10_000 }) };
    expect(await refusal(plan(files, 'auto'))).toContain('num_hidden_layers is 10000, where the tensors');
  });

  test('pickles are not read', async () => {
    const { 'model.safetensors': _, ...rest } = FILES;
    expect(await refusal(plan({ ...rest, 'pytorch_model.bin': 'x' }, 'auto'))).toContain(
      'exports read safetensors only',
    );
  });

  test('weights are taken as they are', async () => {
    expect(await refusal(plan(FILES, 'auto', { dtype: 'q8' }))).toContain('leave out --dtype and --bits');
    expect((await plan(FILES, 'auto', { dtype: 'bf16' })).spec.dtype).toBe('bf16');
  });
});

test("a repository's ONNX export comes before, unless another is forced", async () => {
  const files = { ...FILES, 'onnx/model.onnx': bert['onnx/model.onnx'] };
  expect((await plan(files, 'auto')).toExport).toBeUndefined();
  expect((await plan(files, 'force')).toExport).toBeDefined();
});
