import type { PlanRequest } from '../../../../builder/plan/index.js';
import { files, graphReferring, plan } from './models.js';
import { refusal } from './refusal.js';

describe('refused, with the way out', () => {
  const images = {
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
    ['no image processor', images, {}, /no preprocessor_config\.json/],
    [
      'an image processor that is not known',
      { ...images, 'preprocessor_config.json': '{"image_processor_type":"NougatImageProcessor"}' },
      {},
      /prepares its images with NougatImageProcessor, which is not supported.*ViT/,
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
