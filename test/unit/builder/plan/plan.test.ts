import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { planModel } from '../../../../builder/plan/index.js';
import { folderSource } from '../../../../runtime/store/folder.js';
import { hubSource } from '../../../../runtime/store/hub.js';
import { formatSpec } from '../../../../runtime/store/spec-file.js';
import { type Hub, startHub } from '../../../fakes/hub.js';
import { folderWith } from '../../store/folders.js';
import { files, graphReferring, plan } from './models.js';
import { refusal } from './refusal.js';

const ZOO = 'test/fixtures/zoo';
const CLASSIFIER = `${ZOO}/text-classification/distilbert/repo`;
const CHAT = `${ZOO}/chat/llama-chat/repo`;
const TOKEN = 'the-token';

/** A checkpoint of a type that no graph can be written for. */
const ODD = {
  'config.json': '{"architectures":["OddForSequenceClassification"],"model_type":"odd"}',
  'model.safetensors': 'x',
};

describe('from a hub', () => {
  let hub: Hub;
  beforeAll(async () => {
    hub = await startHub({
      models: {
        'zoo/classifier': { dir: CLASSIFIER, pipeline_tag: 'text-classification', tags: ['license:mit'] },
        'zoo/chat': { dir: CHAT, pipeline_tag: 'text-generation' },
        'zoo/odd': { dir: folderWith(ODD), pipeline_tag: 'text-classification' },
        'others/odd-onnx': { dir: CLASSIFIER, tags: ['onnx', 'base_model:zoo/odd'] },
        'others/odd-gguf': { dir: CLASSIFIER, tags: ['gguf', 'base_model:zoo/odd'] },
        'zoo/gated': { dir: CHAT, pipeline_tag: 'text-generation', gated: 'manual' },
      },
      token: TOKEN,
    });
  });
  afterAll(() => hub.close());
  beforeEach(() => void (hub.requests.length = 0));
  const source = (token?: string) => hubSource({ endpoint: hub.url, token });

  test('a classifier', async () => {
    const { spec, reasons, formats } = await planModel({ source: source(), id: 'zoo/classifier' });
    expect(spec).toMatchObject({
      specVersion: 1,
      id: 'zoo/classifier',
      revision: 'main',
      commit: hub.commitOf('zoo/classifier'),
      task: 'text-classification',
      engine: 'transformers',
      profile: 'text',
      dtype: 'fp32',
      architecture: 'DistilBertForSequenceClassification',
      modelType: 'distilbert',
      license: 'mit',
      graphs: { model: 'onnx/model.onnx' },
    });
    expect(spec.files.map(({ path }) => path)).toEqual([
      'config.json',
      'onnx/model.onnx',
      'special_tokens_map.json',
      'tokenizer.json',
      'tokenizer_config.json',
    ]);
    expect(reasons).toEqual([
      'task text-classification: pipeline_tag text-classification',
      'engine transformers: loads sequence-classification models',
      'dtype fp32: gives the same answers as Python',
    ]);
    expect(formats).toEqual([spec]);
  });

  test('the same listing gives the same bytes', async () => {
    const [first, second] = [
      await planModel({ source: source(), id: 'zoo/chat' }),
      await planModel({ source: source(), id: 'zoo/chat' }),
    ];
    expect(JSON.stringify(first.spec, null, 2) + '\n').toBe(formatSpec(second.spec));
  });

  test('a chat template makes chat', async () => {
    const { spec } = await planModel({ source: source(), id: 'zoo/chat' });
    expect([spec.task, spec.engine]).toEqual(['chat', 'generation']);
    expect(spec.files.map(({ path }) => path)).toContain('generation_config.json');
  });

  test('a gate without a token names the page, with the token it opens', async () => {
    const planned = planModel({ source: source(), id: 'zoo/gated' });
    await expect(planned).rejects.toMatchObject({
      kind: 'gated',
      message: expect.stringContaining(`${hub.url}/zoo/gated`),
    });
    expect(hub.requests.some(({ path }) => path.endsWith('.onnx'))).toBe(false);
    expect((await planModel({ source: source(TOKEN), id: 'zoo/gated' })).spec.task).toBe('chat');
  });

  test('a refusal names conversions that name the model as their base, and comes without them, too', async () => {
    const refused = () => refusal(planModel({ source: source(), id: 'zoo/odd' }));
    expect(await refused()).toMatch(
      /no graph can be written for odd; .*as their base and have one: others\/odd-onnx, or make/,
    );
    hub.fault({ path: '/api/models?', status: 500, times: 9 });
    expect(await refused()).toMatch(/no graph can be written for odd; make one: optimum-cli export onnx/);
    hub.heal();
  });

  test('a refusal moves no weights', async () => {
    await refusal(planModel({ source: source(), id: 'zoo/classifier', task: 'image-classification' }));
    await refusal(planModel({ source: source(), id: 'zoo/classifier', task: 'question-answering' }));
    await refusal(planModel({ source: source(), id: 'zoo/classifier', dtype: 'q4' }));
    expect(hub.requests.some(({ path }) => path.endsWith('.onnx'))).toBe(false);
  });
});

const MEDIA = ['image-text-to-text', 'video-text-to-text', 'audio-text-to-text'].flatMap((task) => {
  const root = `test/fixtures/zoo-weights/${task}`;
  return readdirSync(root).map((name) => [name, task, `${root}/${name}/repo`] as const);
});

test.each(MEDIA)('from a hub: graphs of our own for %s, %s', async (name, task, dir) => {
  const id = `zoo/${name}`;
  const hub = await startHub({ models: { [id]: { dir, pipeline_tag: task } } });
  try {
    const { spec, reasons } = await planModel({ source: hubSource({ endpoint: hub.url }), id });
    expect(spec).toMatchObject({ task, engine: 'generation', dtype: 'bf16' });
    expect(reasons).toContainEqual(expect.stringMatching(/^graph: written for \w+ over model.safetensors/));
    expect(spec.written?.map(({ path }) => path).sort()).toEqual(Object.values(spec.graphs).sort());
    expect(Object.keys(spec.graphs)).toEqual(
      expect.arrayContaining(['embed_tokens', 'decoder_model_merged']),
    );
    const weights = spec.files.find(({ path }) => path === 'model.safetensors');
    expect(weights?.sha256).toMatch(/^[0-9a-f]{64}$/);
  } finally {
    await hub.close();
  }
});

test('an export that is taken in place of PyTorch weights says why', async () => {
  const { reasons, spec } = await plan({ ...files, 'model.safetensors': 'x' }, {});
  expect(spec.graphs).toEqual({ model: 'onnx/model.onnx' });
  expect(reasons).toContainEqual(
    expect.stringMatching(/^graph: the ONNX export, since model.safetensors has 1 bytes/),
  );
});

test('an export of eight bits is taken where there is one, since an image can fetch it; --weights own packs', async () => {
  const repo = join(
    import.meta.dirname,
    '../../../fixtures/zoo-weights/text-classification/distilbert-f16/repo',
  );
  const read = (name: string) => [name, readFileSync(join(repo, name))] as const;
  const both = {
    ...Object.fromEntries(['config.json', 'tokenizer.json', 'model.safetensors'].map(read)),
    'onnx/model_quantized.onnx': graphReferring(),
  };
  const exported = await plan(both, { dtype: 'q8' });
  expect(exported.spec.graphs).toEqual({ model: 'onnx/model_quantized.onnx' });
  const own = await plan(both, { dtype: 'q8', weights: 'own' });
  expect(own.spec).toMatchObject({ graphs: { model: 'graphs/model.onnx' }, dtype: 'q8' });
  expect(own.packedWeights?.recipe.bits).toBe(8);
  expect((await plan(both, {})).spec).toMatchObject({
    graphs: { model: 'graphs/model.onnx' },
    dtype: 'fp16',
  });
});

test('without a tokenizer.json, the vocabulary that one is made of is taken, where its class is known', async () => {
  const { 'tokenizer.json': _, ...others } = files;
  const bert = '{"architectures":["BertForSequenceClassification"],"model_type":"bert"}';
  const { spec } = await plan({ ...others, 'config.json': bert, 'vocab.txt': '[UNK]' }, {});
  expect(spec.files.map(({ path }) => path)).toContain('vocab.txt');
  const whole = await plan({ ...files, 'config.json': bert, 'vocab.txt': '[UNK]' }, {});
  expect(whole.spec.files.map(({ path }) => path)).not.toContain('vocab.txt');
  const japanese = {
    ...others,
    'vocab.txt': '[UNK]',
    'tokenizer_config.json': '{"tokenizer_class":"BertJapaneseTokenizer"}',
  };
  expect(await refusal(plan({ ...japanese, 'config.json': bert }, {}))).toMatch(/no tokenizer.json/);
});

test('every model of the fixture zoo that is served today gets its own task', async () => {
  const models = [
    'text-classification/distilbert',
    'feature-extraction/bert-mean',
    'text-generation/llama',
    'chat/llama-chat',
    'image-classification/vit-tiny',
  ];
  for (const model of models) {
    const about = JSON.parse(readFileSync(`${ZOO}/${model}/about.json`, 'utf8')) as {
      task: string;
      pipeline_tag: string;
    };
    const dir = copyWithTag(`${ZOO}/${model}/repo`, about.pipeline_tag);
    const { spec } = await planModel({ source: folderSource(dir), id: 'zoo/m' });
    expect([model, spec.task]).toEqual([model, about.task]);
  }
});

test('a reranker with modules is no sentence model', async () => {
  const dir = copyWithTag(`${ZOO}/text-classification/distilbert/repo`, 'none');
  const files = {
    'README.md': '',
    'modules.json': '[]',
    'config_sentence_transformers.json': '{"model_type":"CrossEncoder"}',
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(dir, name), content);
  const { spec } = await planModel({ source: folderSource(dir), id: 'org/reranker' });
  expect(spec.task).toBe('text-classification');
});

test('timm’s settings for images stand in config.json', async () => {
  const dir = folderWith({
    'README.md': '---\npipeline_tag: image-classification\n---\n',
    'config.json': '{"architecture":"resnet18","pretrained_cfg":{"input_size":[3,224,224]}}',
    'onnx/model.onnx': readFileSync(join(CLASSIFIER, 'onnx/model.onnx')),
  });
  const { spec } = await planModel({ source: folderSource(dir), id: 'timm/resnet18' });
  expect(spec.files.map(({ path }) => path)).toEqual(['config.json', 'onnx/model.onnx']);
});

function copyWithTag(from: string, tag: string): string {
  const names = [
    'config.json',
    'tokenizer.json',
    'tokenizer_config.json',
    'preprocessor_config.json',
    'onnx/model.onnx',
    'modules.json',
  ];
  const dir = folderWith({ 'README.md': `---\npipeline_tag: ${tag}\n---\n` });
  for (const name of names) {
    try {
      const content = readFileSync(join(from, name));
      mkdirSync(dirname(join(dir, name)), { recursive: true });
      writeFileSync(join(dir, name), content);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return dir;
}
