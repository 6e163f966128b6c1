import { chmodSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { keptExport, makeExport, type MakeRequest } from '../../builder/export/make-export.js';
import type { GraphToExport, ToExport } from '../../builder/export/plan-export.js';
import { PINNED } from '../../builder/export/versions.js';
import { localFiles, readWeightIndex } from '../../runtime/weights/index.js';
import { exportedGraph, safetensors } from '../unit/builder/export/exported-graph.js';
import { folderWith } from '../unit/store/folders.js';

/** Numbers enough to lie outside of the graph. */
const COUNT = 300;
const FACTORS = Float32Array.from({ length: COUNT }, (_, i) => 1 + i / 7);
const bytes = (values: Float32Array) => new Uint8Array(values.buffer);

/** Folder with what an exporter would have written of `logits = x · factors`, times a mistake. */
function made(mistake: number, report: object = { versions: PINNED }): string {
  const { model, data } = exportedGraph({
    weights: { factors: { dims: [COUNT], values: FACTORS.map((value) => value * mistake) } },
    nodes: [{ op: 'Mul', inputs: ['x', 'factors'], outputs: ['logits'] }],
    inputs: { x: [1, ['rows', String(COUNT)]] },
    outputs: { logits: [1, ['rows', String(COUNT)]] },
  });
  const shape = [1, COUNT];
  const probes = safetensors({
    '0/in/x': { type: 'F32', shape, bytes: bytes(FACTORS) },
    '0/out/logits': { type: 'F32', shape, bytes: bytes(FACTORS.map((value) => value * value)) },
    '0/real': { type: 'I64', shape: [1, 1], bytes: new Uint8Array(BigInt64Array.of(1n).buffer) },
  });
  return folderWith({
    ...{ 'model.onnx': model, 'model.onnx.data': data, 'probes.safetensors': probes },
    'report.json': JSON.stringify(report),
  });
}

/** In place of Python: copies what is in one folder with fused operators, in another one without, and ends so. */
function exporter(fused: string, plain: string, status = 0): string {
  const file = join(folderWith(), 'python');
  writeFileSync(
    file,
    `#!${process.execPath}
const { cpSync, readdirSync } = require('node:fs');
process.stdin.once('data', (line) => {
  const job = JSON.parse(line);
  if (readdirSync(job.model).join() !== 'config.json,model.safetensors') process.exit(1);
  cpSync(job.fusions ? '${fused}' : '${plain}', job.out, { recursive: true });
  process.exit(${status});
});
`,
  );
  chmodSync(file, 0o755);
  return file;
}

const graphToExport = (role: string, key: string): GraphToExport => ({
  ...{ role, path: `graphs/${role}.onnx`, key },
  recipe: {
    ...{ modelType: 'odd', class: 'AutoModel', config: {}, mayMiss: [], inputs: {}, free: [], traced: {} },
    ...{ probes: [], outputs: ['logits'] },
  },
});

async function request(python: string): Promise<MakeRequest> {
  const checkpoint = folderWith({
    ...{ 'config.json': '{}', 'tokenizer.json': '{}', 'modeling_odd.py': 'raise SystemExit' },
    'model.safetensors': safetensors({ factors: { type: 'F32', shape: [COUNT], bytes: bytes(FACTORS) } }),
  });
  const toExport: ToExport = {
    graphs: [graphToExport('model', '0123456789abcdef')],
    ...{ versions: PINNED, layers: 1, parameters: COUNT, dtype: 'fp32', known: true },
    index: await readWeightIndex(await localFiles(checkpoint)),
    sources: ['config.json', 'model.safetensors'].map((path) => ({ path, size: 1 })),
  };
  return {
    ...{ id: 'org/m', toExport, folder: folderWith(), checkpoint, python, threads: 1 },
    packageRoot: resolve('.'),
    onStep: () => undefined,
    besideRest: () => Promise.reject(new Error('nothing was copied')),
  };
}

describe('an export, by a program in place of Python that sees two files', () => {
  test('is kept beside the model, with its weights in the checkpoint', async () => {
    const asked = await request(exporter(made(1), made(1)));
    const exported = await makeExport(asked);
    expect(exported).toMatchObject([
      { fusions: true, difference: 0, shares: { inPlace: 4 * COUNT, copied: 0 } },
    ]);
    expect(await keptExport(asked.folder, asked.toExport)).toEqual(exported);
    expect(readdirSync(asked.folder)).toEqual(['slipway-exported-0123456789abcdef.json']);
  });

  test('of a model of several graphs is made again for those that are missing only', async () => {
    const asked = await request(exporter(made(1), made(1)));
    const [first] = asked.toExport.graphs;
    const second = graphToExport('decoder_model', 'fedcba9876543210');
    const toExport = { ...asked.toExport, graphs: [first!, second] };
    const [kept] = await makeExport(asked);
    expect(await keptExport(asked.folder, toExport)).toBeUndefined();
    const other = exporter(made(1.001), made(1));
    const exported = await makeExport({ ...asked, toExport, python: other });
    expect(exported[0]).toEqual(kept);
    expect(exported[1]).toMatchObject({ written: { path: 'graphs/decoder_model.onnx' }, fusions: false });
    expect(await keptExport(asked.folder, toExport)).toEqual(exported);
  });

  test('that fuses operators wrongly is made again without', async () => {
    const asked = await request(exporter(made(1.001), made(1)));
    expect(await makeExport(asked)).toMatchObject([{ fusions: false, difference: 0 }]);
  });

  test('that computes otherwise than torch does is refused, and leaves nothing behind', async () => {
    const asked = await request(exporter(made(1.001), made(1.001)));
    await expect(makeExport(asked)).rejects.toThrow(
      /without fused operators: it differs from torch by 1\.0e-3/,
    );
    expect(readdirSync(asked.folder)).toEqual([]);
  });

  test('that can not be made says why', async () => {
    const refused = made(1, { versions: PINNED, refused: 'the checkpoint has no classifier.weight' });
    const asked = await request(exporter(refused, refused, 3));
    await expect(makeExport(asked)).rejects.toThrow('the checkpoint has no classifier.weight');
  });

  test('that dies is refused with its end', async () => {
    const asked = await request(exporter(made(1), made(1), 9));
    await expect(makeExport(asked)).rejects.toThrow('the export of org/m ended by status 9');
  });

  test('whose caller leaves ends at once', async () => {
    const leaving = new AbortController();
    const asked = await request(exporter(made(1), made(1)));
    leaving.abort(new Error('gone'));
    await expect(makeExport({ ...asked, signal: leaving.signal })).rejects.toThrow('gone');
    expect(readdirSync(asked.folder)).toEqual([]);
  });
});
