import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Refusal } from '../../../../builder/plan/index.js';
import { readPortNames } from '../../../../builder/plan/graph-ends.js';
import { planModel } from '../../../../builder/plan/plan.js';
import { readGraph, writeGraph } from '../../../../runtime/onnx/graph.js';
import { portNames, portNamesInTail } from '../../../../runtime/onnx/ports.js';
import { bytesReader, writeField } from '../../../../runtime/onnx/protobuf.js';
import { folderSource } from '../../../../runtime/store/folder.js';
import { StoreError } from '../../../../runtime/store/errors.js';
import { hubSource } from '../../../../runtime/store/hub.js';
import { type Hub, startHub } from '../../../fakes/hub.js';
import { folderWith } from '../../store/folders.js';

const ZOO = 'test/fixtures/zoo';
const LLAMA = `${ZOO}/text-generation/llama/repo`;
const QA = `${ZOO}/question-answering/bert-qa/repo`;

const planOf = (dir: string, task?: string) => planModel({ source: folderSource(dir), id: 'org/m', task });

test.each([
  [
    'a generator',
    'feature-extraction',
    LLAMA,
    /onnx\/model\.onnx of org\/m can't do feature-extraction: it gives logits, a cache, no hidden states/,
  ],
  ['a generator', 'sentence-similarity', LLAMA, /take another --task, or .* --task feature-extraction DIR/],
])('%s as %s is refused by what its graph gives', async (_, task, dir, said) => {
  const refused = planOf(dir, task);
  await expect(refused).rejects.toThrow(said);
  await expect(refused).rejects.toBeInstanceOf(Refusal);
});

test('an encoder without a cache is no generator, whatever its repository calls it', async () => {
  const dir = folderWith({
    ...filesOf(QA),
    'config.json': '{"architectures":["LlamaForCausalLM"],"model_type":"llama"}',
  });
  await expect(planOf(dir, 'text-generation')).rejects.toThrow(/gives .*, not logits/);
});

describe('a graph that holds its weights', () => {
  const files = { ...filesOf(LLAMA), 'onnx/model.onnx': withBallast(`${LLAMA}/onnx/model.onnx`, 6_000_000) };
  let hub: Hub;
  beforeAll(async () => {
    hub = await startHub({ models: { 'zoo/large': { dir: folderWith(files), tags: [] } } });
  });
  afterAll(() => hub.close());

  test('is refused by its last bytes', async () => {
    const source = hubSource({ endpoint: hub.url });
    const planned = planModel({ source, id: 'zoo/large', task: 'feature-extraction' });
    await expect(planned).rejects.toThrow(/gives logits, a cache, no hidden states/);
    const asked = hub.requests.filter(({ path: asked }) => asked.endsWith('.onnx'));
    expect(asked).toHaveLength(2);
  });

  test('says nothing where the hub sends whole files only', async () => {
    const ref = { id: 'zoo/large', commit: 'c' };
    const file = { path: 'onnx/model.onnx', size: files['onnx/model.onnx'].length };
    const read = async () => {
      throw new StoreError('invalid', 'the hub does not send parts of files');
    };
    expect(await readPortNames({ read }, ref, file)).toBeUndefined();
  });

  test('gives the same names by its end as by the whole, wherever the end begins', () => {
    const whole = files['onnx/model.onnx'];
    const { outputs } = portNames(bytesReader(whole));
    for (const length of [40_000, 600, 301]) {
      const tail = portNamesInTail(whole.subarray(-length))!;
      expect(tail.outputs).toEqual(outputs.slice(-tail.outputs.length));
    }
    expect(portNamesInTail(whole.subarray(-40_000))?.outputs).toEqual(outputs);
    expect(portNamesInTail(new Uint8Array(1000))).toBeUndefined();
  });
});

function filesOf(dir: string): Record<string, Uint8Array> {
  const names = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    names.map(({ parentPath, name }) => {
      const file = path.join(parentPath, name);
      return [path.relative(dir, file), readFileSync(file)];
    }),
  );
}

/** The same graph as the last field of its model, with a tensor more. */
function withBallast(file: string, bytes: number): Buffer {
  const graph = readGraph(file);
  const tensor = Buffer.concat([writeField(8, 'ballast'), writeField(9, ballast(bytes))]);
  return Buffer.from(
    writeGraph({ ...graph, otherFields: [], initializers: [...graph.initializers, tensor] }),
  );
}

/** Every other byte begins like an output: what reads it again and again would take hours. */
function ballast(bytes: number): Buffer {
  return Buffer.from(Uint8Array.from({ length: bytes }, (_, i) => (i % 2 === 1 ? 0x62 : (i * 7919) % 128)));
}
