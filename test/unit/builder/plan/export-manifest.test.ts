import { exportedGraph } from '../export/exported-graph.js';
import { plan } from './models.js';
import { refusal } from './refusal.js';

type Axes = readonly string[];
const [FLOAT, INT64] = [1, 7];

function graph(inputs: Record<string, [type: number, axes: Axes]>, outputs = ['logits']): Uint8Array {
  return exportedGraph({
    weights: {},
    nodes: [{ op: 'Identity', inputs: ['input_ids'], outputs }],
    inputs,
    outputs: Object.fromEntries(outputs.map((name) => [name, [FLOAT, ['rows', 'tokens', '9']]])),
  }).model;
}

const CLASSIFIER = { architectures: ['BertForSequenceClassification'], model_type: 'bert' };
const WRITER = { architectures: ['LlamaForCausalLM'], model_type: 'llama' };
const TEXT: Record<string, [number, Axes]> = {
  input_ids: [INT64, ['rows', 'tokens']],
  attention_mask: [INT64, ['all', 'length']],
};
const CACHE: [number, Axes] = [FLOAT, ['rows', '2', 'past', '12']];
const STEP = { ...TEXT, 'input.cache.layers.0.keys': CACHE, 'input.cache.layers.0.values': CACHE };
const PRESENT = ['logits', 'output.cache.layers.0.keys', 'output.cache.layers.0.values'];

const component = (file: string, export_dtype = 'float32') => ({ file, metadata: { export_dtype } });

interface Repository {
  config?: object;
  manifest?: object;
  components?: Record<string, object>;
  graphs?: Record<string, Uint8Array>;
}

const repository = ({
  config = CLASSIFIER,
  components = { model: component('model.onnx') },
  manifest = {},
  graphs = { 'model.onnx': graph(TEXT) },
}: Repository) => ({
  ...{ 'config.json': JSON.stringify(config), 'tokenizer.json': '{}' },
  'export.json': JSON.stringify({ schema_version: 1, export_format: 'onnx', components, ...manifest }),
  ...graphs,
});

const decoder = (inputs: Record<string, [number, Axes]>): Repository => ({
  config: WRITER,
  components: { prefill: component('prefill.onnx'), decode: component('decode.onnx') },
  graphs: { 'prefill.onnx': graph(TEXT), 'decode.onnx': graph(inputs, PRESENT) },
});

test('the graph of a network that runs once', async () => {
  const { spec, reasons } = await plan(repository({}));
  expect(spec).toMatchObject({ dtype: 'fp32', graphs: { model: 'model.onnx' } });
  expect(reasons).toContain('dtype fp32: the graphs that export.json names');
});

test('its own format and file, whatever else is there', async () => {
  const graphs = { 'model.onnx': graph(TEXT), 'other.onnx': graph(TEXT) };
  const components = { model: component('other.onnx', 'float16') };
  const { spec } = await plan(repository({ graphs, components }));
  expect(spec).toMatchObject({ dtype: 'fp16', graphs: { model: 'other.onnx' } });
});

test("a decoder's step reads prompts, too", async () => {
  const { spec } = await plan(repository(decoder(STEP)));
  expect(spec.graphs).toEqual({ model: 'decode.onnx' });
  expect(spec.files.map(({ path }) => path)).not.toContain('prefill.onnx');
});

test('a step that takes one token at a time', async () => {
  const one = { ...STEP, input_ids: [INT64, ['rows', '1']] as [number, Axes] };
  expect((await plan(repository(decoder(one)))).spec.graphs).toEqual({ model: 'decode.onnx' });
});

test.each<[what: string, made: Repository, message: string]>([
  [
    'a batch of two',
    { graphs: { 'model.onnx': graph({ ...TEXT, input_ids: [INT64, ['2', 'tokens']] }) } },
    'model.onnx of org/m was exported for one size only: input_ids [2, any]',
  ],
  [
    'texts of nine tokens',
    { graphs: { 'model.onnx': graph({ ...TEXT, input_ids: [INT64, ['1', '9']] }) } },
    'model.onnx of org/m was exported for one size only: input_ids [1, 9]',
  ],
  [
    'a network that runs once for one token',
    { graphs: { 'model.onnx': graph({ ...TEXT, input_ids: [INT64, ['rows', '1']] }) } },
    'model.onnx of org/m was exported for one size only: input_ids [any, 1]',
  ],
  [
    'two tokens a step',
    decoder({ ...STEP, input_ids: [INT64, ['rows', '2']] }),
    'decode.onnx of org/m was exported for one size only: input_ids [any, 2]',
  ],
  [
    'a cache of nine tokens',
    decoder({ ...STEP, 'input.cache.layers.0.keys': [FLOAT, ['rows', '2', '9', '12']] }),
    'decode.onnx of org/m was exported for one size only: input.cache.layers.0.keys [any, 2, 9, 12]',
  ],
  [
    'a state of unknown size',
    decoder({ ...STEP, 'input.cache.layers.1.conv_states.0': [FLOAT, ['rows', '48', 'window']] }),
    'decode.onnx of org/m does not say how large its state input.cache.layers.1.conv_states.0 is',
  ],
  [
    'weights of a type that the CPU does not compute in',
    { components: { model: component('model.onnx', 'bfloat16') } },
    'org/m: its graphs were exported in bfloat16',
  ],
  [
    'another format',
    { manifest: { export_format: 'openvino' }, graphs: {} },
    'org/m is an export for openvino',
  ],
  ['a newer schema', { manifest: { schema_version: 2 } }, 'org/m: export.json is of schema 2; 1 is known'],
  ['no components', { manifest: { components: 3 } }, 'org/m: export.json is not as transformers writes it'],
  [
    'other components',
    { components: { image_encoder: component('model.onnx') } },
    'org/m: export.json has image_encoder, not model',
  ],
  [
    'a file that is not there',
    { components: { model: component('../model.onnx') } },
    'org/m: export.json names "../model.onnx", which is no graph of the repository',
  ],
  [
    'a pickle',
    {
      components: { model: component('model.pt2') },
      graphs: { 'model.pt2': Buffer.from('x'), 'a.onnx': graph(TEXT) },
    },
    'org/m: export.json names "model.pt2", which is no graph of the repository',
  ],
])('%s is refused', async (_what, made, message) =>
  expect(await refusal(plan(repository(made)))).toContain(message),
);

test('another weight format than the one that is there is refused', async () =>
  expect(await refusal(plan(repository({}), { dtype: 'q8' }))).toContain(
    'org/m has no q8 weights: its export.json names fp32',
  ));

test('graphs beside an export for something else are served', async () => {
  const { spec } = await plan(repository({ manifest: { export_format: 'openvino' } }));
  expect(spec.graphs).toEqual({ model: 'model.onnx' });
});
