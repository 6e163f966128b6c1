import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { planModel, type PlanRequest, Refusal } from '../../../../builder/plan/index.js';
import { folderSource } from '../../../../runtime/store/folder.js';
import { hubSource } from '../../../../runtime/store/hub.js';
import { formatSpec } from '../../../../runtime/store/spec-file.js';
import { type Hub, startHub } from '../../../fakes/hub.js';
import { folderWith } from '../../store/folders.js';
import { files, graphReferring, plan } from './models.js';

const ZOO = 'test/fixtures/zoo';
const CLASSIFIER = `${ZOO}/text-classification/distilbert/repo`;
const CHAT = `${ZOO}/chat/llama-chat/repo`;
const TOKEN = 'the-token';

/** A checkpoint of a type that no graph can be written for. */
const ODD = {
  'config.json': '{"architectures":["OddForSequenceClassification"],"model_type":"odd"}',
  'model.safetensors': 'x',
};

const refusal = async (planned: Promise<unknown>) => {
  const error = await planned.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Refusal);
  expect((error as Refusal).exit).toBe('refused');
  return (error as Refusal).message;
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
  expect(own.toMake?.recipe.bits).toBe(8);
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

describe('refused, with the way out', () => {
  const pictures = {
    'config.json': '{"architectures":["ViTForImageClassification"]}',
    'onnx/model.onnx': graphReferring(),
  };
  const { 'tokenizer.json': _tokenizer, ...noTokenizer } = files;
  const { 'onnx/model.onnx': _graph, ...noGraph } = files;
  const unknown = {
    ...noGraph,
    'config.json': '{"architectures":["AnyForSequenceClassification"],"model_type":"any"}',
  };

  test.each<[string, Record<string, string | Uint8Array>, Partial<PlanRequest>, RegExp]>([
    [
      'only safetensors',
      { ...unknown, 'model.safetensors': 'x' },
      {},
      /no ONNX export \(only safetensors\), and no graph can be written for any; make one: optimum-cli .*--from/,
    ],
    [
      'damaged safetensors',
      { ...noGraph, 'model.safetensors': 'x' },
      {},
      /model.safetensors has 1 bytes.*damaged/,
    ],
    [
      'only GGUF and PyTorch',
      { ...unknown, 'm.gguf': 'x', 'pytorch_model.bin': 'x' },
      {},
      /\(only PyTorch, GGUF\)/,
    ],
    [
      'an adapter of another kind',
      {
        'adapter_config.json': '{"peft_type":"IA3","base_model_name_or_path":"org/base"}',
        'adapter_model.safetensors': 'x',
      },
      {},
      /is an adapter of the kind "IA3" for org\/base.*merge_and_unload/,
    ],
    ['no weights', noGraph, {}, /^org\/m has no weights: no model\.safetensors.*; put them into \//],
    [
      'a voice of Piper',
      { 'en_US-joe.onnx': 'x', 'en_US-joe.onnx.json': '{}' },
      { task: 'text-to-speech' },
      /is a voice of Piper \(en_US-joe\.onnx with its \.onnx\.json\).*; take a text-to-speech model of transformers/,
    ],
    [
      'custom code',
      {
        ...noGraph,
        'tf_model.h5': 'x',
        'config.json': '{"architectures":["BertForMaskedLM"],"auto_map":{"AutoModel":"m.M"}}',
      },
      { task: 'feature-extraction' },
      /auto_map.*never run; look for the same without its own code, whose name often ends in -hf/,
    ],
    [
      'an ONNX file of another role',
      { ...noGraph, 'onnx/encoder_model.onnx': 'x' },
      {},
      /no ONNX export with model\.onnx \(there is onnx\/encoder_model\.onnx\)/,
    ],
    [
      'a task for pipelines alone',
      { ...files, 'config.json': '{}' },
      { task: 'text-to-video' },
      /has no model_index\.json; text-to-video is served for TextToVideoSDPipeline/,
    ],
    [
      'a pipeline that is not served',
      { ...files, 'model_index.json': '{"_class_name":"SanaPipeline"}' },
      {},
      /is a SanaPipeline; text-to-image is served for StableDiffusionPipeline/,
    ],
    ['another dtype', files, { dtype: 'fp16' }, /no fp16 weights; take one of fp32/],
    [
      'no tokenizer.json',
      noTokenizer,
      {},
      /no tokenizer\.json; put it into (\/\S+); .*AutoTokenizer.from_pretrained\("\1"\)/,
    ],
    ['no image processor', pictures, {}, /no preprocessor_config\.json/],
    [
      'an image processor that is not known',
      { ...pictures, 'preprocessor_config.json': '{"image_processor_type":"NougatImageProcessor"}' },
      {},
      /prepares its pictures with NougatImageProcessor, which is not supported.*ViT/,
    ],
    [
      'chat without template',
      { ...files, 'config.json': '{"architectures":["LlamaForCausalLM"]}' },
      { task: 'chat' },
      /no chat template/,
    ],
    [
      'a config that is no JSON',
      { ...files, 'config.json': '{' },
      {},
      /config\.json of the repository is not a JSON object/,
    ],
    [
      'a config that is a list',
      { ...files, 'config.json': '[]' },
      {},
      /config\.json of the repository is not a JSON object/,
    ],
    [
      'a tokenizer config that is null',
      { ...files, 'tokenizer_config.json': 'null' },
      {},
      /tokenizer_config\.json/,
    ],
    [
      'external weights that the repository lacks',
      { ...files, 'onnx/model.onnx': graphReferring('gone.bin') },
      {},
      /keeps its weights in onnx\/gone\.bin/,
    ],
  ])('%s', async (_name, content, request, message) => {
    expect(await refusal(plan(content, request))).toMatch(message);
  });

  test('facts of wrong types count as absent', async () => {
    const content = { ...files, 'config.json': '{"architectures":"Bert","model_type":5}' };
    expect(await refusal(plan(content))).toMatch(/nothing in org\/m tells its task/);
    const { spec } = await plan(content, { task: 'text-classification' });
    expect([spec.architecture, spec.modelType]).toEqual([undefined, undefined]);
  });

  test('a graph that is a pointer of git-lfs is an error before any download', async () => {
    const content = { ...files, 'onnx/model.onnx': 'version https://git-lfs.github.com/spec/v1\n' };
    await expect(plan(content)).rejects.toThrow(/not an ONNX graph/);
  });
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

test('timm’s settings for pictures stand in config.json', async () => {
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
