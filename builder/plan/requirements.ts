import {
  IMAGE_PROCESSORS,
  imageProcessorStem,
  isImageProcessor,
} from '../../runtime/core/image-processors.js';
import type { ModelInfo } from '../../runtime/core/spec.js';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { pipelineClasses, pipelineNamed } from '../../runtime/core/pipelines.js';
import { isTrainedModel, TOKENIZER_SETTINGS, vocabularyOf } from '../../runtime/core/vocabulary-files.js';
import type { AnyTask, EngineBinding } from '../../runtime/tasks/define.js';
import type { ModelFacts } from './facts.js';
import { Refusal } from './refusal.js';

/** Unsupported weight formats, by file name. */
const OTHER_WEIGHTS: [pattern: RegExp, name: string][] = [
  [/\.safetensors$/, 'safetensors'],
  [/(?:\.bin|\.pt|\.pth|\.ckpt)$/, 'PyTorch'],
  [/\.gguf$/, 'GGUF'],
  [/\.(?:h5|msgpack|ot|tflite)$/, 'TensorFlow, Flax or Rust'],
];

/**
 * The refusal of a repository without ONNX graphs.
 * @param conversions ids of models that name it as their base
 * @param exported why none is exported, where that was asked
 */
export function noExport(
  { id, files, folder }: Pick<ModelInfo, 'id' | 'files' | 'folder'>,
  { customCode, modelType = 'it' }: Pick<ModelFacts, 'customCode' | 'modelType'>,
  { conversions = [], exported }: { conversions?: readonly string[]; exported?: string | undefined } = {},
): Refusal {
  const found = OTHER_WEIGHTS.filter(([pattern]) => files.some(({ path }) => pattern.test(path)));
  if (found.length === 0)
    return new Refusal(
      `${id} has no weights: no model.safetensors, pytorch_model.bin or onnx/*.onnx`,
      folder === undefined
        ? 'the upload is incomplete: take another revision or repository'
        : `put them into ${folder}`,
    );
  const only = `only ${found.map(([, name]) => name).join(', ')}`;
  const code = customCode ? '; its own Python code (auto_map) is never run' : '';
  // What transformers has a class for by now is often there a second time, in that class's layout.
  const twin =
    customCode && !id.endsWith('-hf')
      ? 'look for the same without its own code, whose name often ends in -hf; '
      : '';
  const known =
    conversions.length > 0 ? `these name it as their base and have one: ${conversions.join(', ')}, or ` : '';
  return new Refusal(
    `${id} has no ONNX export (${only}), and no graph can be written for ${modelType}${code}${exported ? `, and ${exported}` : ''}`,
    `${twin}${known}make one: optimum-cli export onnx --model ${folder ?? id} DIR, then --from DIR`,
  );
}

/** What a binding reads of this repository: without a tokenizer.json the files that one is made of, if they are there. */
export function withVocabulary<B extends Pick<EngineBinding<never, never, never>, 'files'>>(
  binding: B,
  { files }: Pick<ModelInfo, 'files'>,
  facts: Pick<ModelFacts, 'tokenizerClass'>,
): B {
  const has = (path: string) => files.some((file) => file.path === path);
  if (!binding.files.includes('tokenizer.json') || has('tokenizer.json')) return binding;
  const vocabulary = vocabularyOf(facts.tokenizerClass ?? '');
  if (!vocabulary?.files.every(has)) return binding;
  return { ...binding, files: [...binding.files, ...vocabulary.files, ...TOKENIZER_SETTINGS] };
}

/** @throws Refusal when a file is missing that the task's engine needs to read its input */
export function requireFiles(
  { id, files, folder }: ModelInfo,
  { modality, blocks }: AnyTask,
  { files: named }: Pick<EngineBinding<never, never, never>, 'files'>,
  facts: Pick<ModelFacts, 'processor' | 'hasTimmSettings'>,
): void {
  const has = (path: string) => files.some((file) => file.path === path);
  // Families that read vocab.json themselves name it, too.
  const others = named.filter((name) => ['vocab.json', 'vocab.txt'].includes(name) || isTrainedModel(name));
  if (named.includes('tokenizer.json') && !['tokenizer.json', ...others].some(has)) {
    throw new Refusal(
      `${id} has no tokenizer.json`,
      folder === undefined
        ? `write one with Python, AutoTokenizer.from_pretrained("${id}").save_pretrained(DIR), put the other files beside it and give --from DIR`
        : `put it into ${folder}; where that holds the files of another tokenizer class, Python writes one: ` +
            `AutoTokenizer.from_pretrained(${JSON.stringify(folder)}).save_pretrained(${JSON.stringify(folder)})`,
    );
  }
  const image = ['preprocessor_config.json', 'processor_config.json'];
  if (!named.includes(image[0]!) || facts.hasTimmSettings) return;
  if ((blocks ?? modality) === 'image' && !image.some(has)) {
    throw new Refusal(
      `${id} has no preprocessor_config.json, so nobody knows how it wants its images`,
      folder === undefined
        ? 'copy that file from the model that it was exported from and give the folder with --from'
        : `copy that file from the model that it was exported from into ${folder}`,
    );
  }
  if (blocks === undefined && (modality === 'image' || modality === 'video'))
    requireProcessor(id, facts.processor);
}

/** Chats about images have processors of their own families, which the server looks up by the model's type. */
function requireProcessor(id: string, name: string | undefined): void {
  if (name === undefined || isImageProcessor(imageProcessorStem(name))) return;
  throw new Refusal(
    `${id} prepares its images with ${name}, which is not supported`,
    `take a model with one of ${IMAGE_PROCESSORS.join(', ')}`,
  );
}

/** @throws Refusal for a pipeline of diffusers of a class that the task is not served for */
export function requirePipeline({ id }: ModelInfo, { pipelineClass }: ModelFacts, task: TaskId): void {
  const known = pipelineClasses(task);
  if (!known || (pipelineClass && known.includes(pipelineNamed(pipelineClass)))) return;
  const named = pipelineClass ? `is a ${pipelineClass}` : 'has no model_index.json';
  throw new Refusal(`${id} ${named}; ${task} is served for ${known.join(', ')}`);
}
