import { imageMemory } from '../../../../builder/plan/vision/image-memory.js';
import { sizesOf } from '../../../../builder/plan/network/sizes.js';
import { FAMILIES } from '../../../../runtime/models/registry.js';
import { readersOf } from '../../../../runtime/models/readers.js';
import { possibleTasks } from '../../../../builder/plan/architectures.js';
import { detectTask, type DetectRequest } from '../../../../builder/plan/detect-task.js';
import type { ModelFacts } from '../../../../builder/plan/facts.js';
import { TASK_IDS } from '../../../../runtime/core/task-ids.js';

interface Given extends Partial<ModelFacts> {
  arch?: string;
  tag?: string;
  tags?: string[];
  library?: string;
  task?: string;
}

function request({ arch, tag, tags = [], library, task, ...facts }: Given): DetectRequest {
  return {
    info: { id: 'org/m', pipelineTag: tag, tags, libraryName: library, files: [] },
    facts: {
      architectures: arch ? [arch] : [],
      customCode: false,
      hasChatTemplate: false,
      sentenceModules: false,
      readers: {},
      hasTimmSettings: false,
      notes: [],
      network: { sizes: sizesOf({}) },
      image: imageMemory({}, {}),
      ...facts,
    },
    task,
  };
}

const detect = (given: Given) => detectTask(request(given)).task;

test('a reranker: how pairs are asked is said, and what ranks in another way is refused', () => {
  const tag = 'text-ranking';
  const { reason } = detectTask(request({ tag, arch: 'XLMRobertaForSequenceClassification' }));
  expect(reason).toMatch(/pipeline_tag text-ranking, a cross-encoder scores pairs: .*params\.text_pair/);
  for (const arch of ['Qwen3ForCausalLM', 'BertModel'])
    expect(() => detect({ tag, arch })).toThrow(/is made for text-ranking, which is not one of the tasks/);
  expect(() => detect({ tag })).toThrow(/is made for text-ranking/);
});

test('pipeline_tag decides, for every task of ours', () => {
  for (const id of TASK_IDS.filter((task) => task !== 'chat')) expect(detect({ tag: id })).toBe(id);
});

test.each<[string, Given, string]>([
  ['a chat template makes chat', { tag: 'text-generation', hasChatTemplate: true }, 'chat'],
  ['no template, no chat', { tag: 'text-generation', tags: ['conversational'] }, 'text-generation'],
  ['the old name of chat', { tag: 'conversational', hasChatTemplate: true }, 'chat'],
  [
    'a template elsewhere means nothing',
    { tag: 'text-classification', hasChatTemplate: true },
    'text-classification',
  ],
  ['a reranker', { tag: 'text-ranking', arch: 'BertForSequenceClassification' }, 'text-classification'],
  ['a network that removes backgrounds', { arch: 'BiRefNet', customCode: true }, 'image-segmentation'],
  ['its tag elsewhere', { tag: 'background-removal' }, 'image-segmentation'],
  ['texts are looked for', { arch: 'MMGroundingDinoForObjectDetection' }, 'zero-shot-object-detection'],
  ['an architecture with a template', { arch: 'LlamaForCausalLM', hasChatTemplate: true }, 'chat'],
  [
    'sentence-transformers as tagged',
    { tag: 'feature-extraction', library: 'sentence-transformers' },
    'feature-extraction',
  ],
  [
    'sentence-transformers untagged',
    { library: 'sentence-transformers', arch: 'BertModel' },
    'sentence-similarity',
  ],
  ['modules.json untagged', { sentenceModules: true, arch: 'BertModel' }, 'sentence-similarity'],
  [
    'an embedding model built on a decoder',
    { tag: 'sentence-similarity', sentenceModules: true, arch: 'Qwen3ForCausalLM' },
    'sentence-similarity',
  ],
  [
    'an embedding model that is all graph, called by its decoder',
    { tag: 'feature-extraction', arch: 'Qwen3ForCausalLM' },
    'feature-extraction',
  ],
  [
    'a text model of a family that sees',
    { tag: 'sentence-similarity', arch: 'Gemma3TextModel' },
    'sentence-similarity',
  ],
  [
    'a reranker of sentence-transformers untagged',
    { library: 'sentence-transformers', arch: 'BertForSequenceClassification' },
    'text-classification',
  ],
  ['a single tag', { tags: ['onnx', 'fill-mask', 'en'] }, 'fill-mask'],
  ['a model type', { modelType: 'whisper' }, 'automatic-speech-recognition'],
  [
    'the tag before the architecture',
    { tag: 'zero-shot-classification', arch: 'BartForSequenceClassification' },
    'zero-shot-classification',
  ],
  [
    '--task before all',
    {
      tag: 'text-classification',
      task: 'zero-shot-classification',
      arch: 'DistilBertForSequenceClassification',
    },
    'zero-shot-classification',
  ],
  [
    '--task text-generation for a chat model',
    { tag: 'text-generation', hasChatTemplate: true, task: 'text-generation' },
    'text-generation',
  ],
])('%s', (_name, given, expected) => {
  expect(detect(given)).toBe(expected);
});

test.each([
  ['DistilBertForSequenceClassification', 'text-classification'],
  ['Data2VecAudioForSequenceClassification', 'audio-classification'],
  ['SEWForSequenceClassification', 'audio-classification'],
  ['LlamaForCausalLM', 'text-generation'],
  ['GPT2LMHeadModel', 'text-generation'],
  ['BartForCausalLM', 'text-generation'],
  ['BertForMaskedLM', 'fill-mask'],
  ['BertForTokenClassification', 'token-classification'],
  ['RobertaForQuestionAnswering', 'question-answering'],
  ['ViltForQuestionAnswering', 'visual-question-answering'],
  ['BlipForQuestionAnswering', 'visual-question-answering'],
  ['BlipForConditionalGeneration', 'image-to-text'],
  ['LayoutLMv2ForQuestionAnswering', 'document-question-answering'],
  ['T5ForConditionalGeneration', 'text2text-generation'],
  ['MT5ForConditionalGeneration', 'text2text-generation'],
  ['BartForConditionalGeneration', 'text2text-generation'],
  ['PegasusForConditionalGeneration', 'text2text-generation'],
  ['MarianMTModel', 'translation'],
  ['M2M100ForConditionalGeneration', 'translation'],
  ['WhisperForConditionalGeneration', 'automatic-speech-recognition'],
  ['Wav2Vec2ForCTC', 'automatic-speech-recognition'],
  ['Wav2Vec2ForSequenceClassification', 'audio-classification'],
  ['ASTForAudioClassification', 'audio-classification'],
  ['ViTForImageClassification', 'image-classification'],
  ['DeiTForImageClassificationWithTeacher', 'image-classification'],
  ['VideoMAEForVideoClassification', 'video-classification'],
  ['SegformerForSemanticSegmentation', 'image-segmentation'],
  ['MaskFormerForInstanceSegmentation', 'image-segmentation'],
  ['DetrForSegmentation', 'image-segmentation'],
  ['DetrForObjectDetection', 'object-detection'],
  ['OwlViTForObjectDetection', 'zero-shot-object-detection'],
  ['GroundingDinoForObjectDetection', 'zero-shot-object-detection'],
  ['DPTForDepthEstimation', 'depth-estimation'],
  ['SamModel', 'mask-generation'],
  ['CLIPModel', 'zero-shot-image-classification'],
  ['SiglipModel', 'zero-shot-image-classification'],
  ['Dinov2Model', 'image-feature-extraction'],
  ['CLIPVisionModel', 'image-feature-extraction'],
  ['SiglipVisionModel', 'image-feature-extraction'],
  ['MobileNetV2Model', 'image-feature-extraction'],
  ['EfficientNetModel', 'image-feature-extraction'],
  ['Swinv2Model', 'image-feature-extraction'],
  ['VisionEncoderDecoderModel', 'image-to-text'],
  ['GitForCausalLM', 'image-to-text'],
  ['BlipForConditionalGeneration', 'image-to-text'],
  ['LlavaForConditionalGeneration', 'image-text-to-text'],
  ['Qwen2VLForConditionalGeneration', 'image-text-to-text'],
  ['MusicgenForConditionalGeneration', 'text-to-audio'],
  ['VitsModel', 'text-to-speech'],
  ['SpeechT5ForTextToSpeech', 'text-to-speech'],
  ['BertModel', 'feature-extraction'],
  ['T5EncoderModel', 'feature-extraction'],
])('%s alone means %s', (arch, expected) => {
  expect(detect({ arch })).toBe(expected);
});

/** Families hold conversations about the media that their prompts take: no table of classes names them. */
test.each(
  FAMILIES.filter(({ heads }) => 'media-chat' in heads).flatMap(({ modelTypes, usualTask }) =>
    modelTypes.map((type) => [type, usualTask!] as const),
  ),
)('a conversation with %s is %s', (type, usualTask) => {
  const readers = readersOf({ model_type: type, vision_config: { model_type: 'clip_vision_model' } });
  const { facts } = request({ arch: 'AnyForConditionalGeneration', readers });
  expect(possibleTasks(facts)).toEqual([
    usualTask,
    ...(readers.prompts?.video ? ['video-text-to-text'] : []),
  ]);
});

test('a class of such a type that is no conversation keeps its task', () => {
  const readers = readersOf({ model_type: 'gemma3' });
  expect(detect({ arch: 'Gemma3ForCausalLM', readers })).toBe('text-generation');
});

test.each([
  ['StableDiffusionPipeline', 'text-to-image'],
  ['LatentConsistencyModelPipeline', 'text-to-image'],
  ['DDIMPipeline', 'unconditional-image-generation'],
  ['TextToVideoSDPipeline', 'text-to-video'],
  ['AudioLDM2Pipeline', 'text-to-audio'],
])('the pipeline %s means %s', (pipelineClass, expected) => {
  expect(detect({ pipelineClass })).toBe(expected);
});

test.each<[string, Given, RegExp]>([
  [
    'no sign at all',
    {},
    /nothing in org\/m tells its task; give it with --task, one of text-generation, chat/,
  ],
  ['two tags', { tags: ['fill-mask', 'translation'] }, /nothing in org\/m tells its task/],
  ['a task that does not exist', { task: 'juggling' }, /"juggling" is not a task; use one of/],
  [
    'a task that its architecture cannot do',
    { arch: 'BertForSequenceClassification', task: 'image-classification' },
    /is a BertForSequenceClassification, which can't do image-classification.*--task text-classification/,
  ],
  [
    'a tag that its architecture cannot do',
    { arch: 'BertModel', tag: 'text-classification' },
    /can't do text-classification \(pipeline_tag|can't do text-classification/,
  ],
  [
    'chat without a template',
    { arch: 'LlamaForCausalLM', task: 'chat' },
    /no chat template.*--task text-generation/,
  ],
  [
    'a task of the hub that is not ours',
    { tag: 'tabular-classification', arch: 'BertForSequenceClassification' },
    /made for tabular-classification.*--task text-classification/,
  ],
  ['a foreign task with no help', { tag: 'robotics' }, /made for robotics.*name it with --task/],
  [
    'an architecture for audio only',
    { arch: 'ClapModel', task: 'feature-extraction' },
    /can't do feature-extraction/,
  ],
])('%s is refused', (_name, given, message) => {
  expect(() => detect(given)).toThrow(message);
});

test('an architecture that nobody knows rules nothing out', () => {
  expect(possibleTasks(request({ arch: 'BrandNewThing' }).facts)).toBeUndefined();
  expect(detect({ arch: 'BrandNewThing', task: 'translation' })).toBe('translation');
});

test('the reason names the sign', () => {
  expect(detectTask(request({ tag: 'text-generation', hasChatTemplate: true })).reason).toBe(
    'task chat: pipeline_tag text-generation and a chat template',
  );
  expect(detectTask(request({ arch: 'BertForMaskedLM' })).reason).toBe('task fill-mask: BertForMaskedLM');
});
