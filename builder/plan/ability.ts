import type { Head } from '../../runtime/core/handles/index.js';
import type { TaskId } from '../../runtime/core/task-ids.js';
import type { PortNames } from '../../runtime/onnx/ports.js';
import type { GraphNotes } from './external.js';
import { Refusal } from './refusal.js';

const CACHE_INPUT = /^past[._]/;
const CACHE_OUTPUT = /^present[._]/;
const SCORES = /logits$/;

type Problem = string | undefined;

const gives =
  (...names: string[]) =>
  ({ outputs }: PortNames): Problem => {
    const missing = names.filter((name) => !outputs.includes(name));
    return missing.length > 0 ? `gives ${formatOutputs(outputs)}, not ${missing.join(' and ')}` : undefined;
  };

/** What each head needs of the graph `model`; the loaders in runtime/engines/ check the same. */
const NEEDS: Record<Head, (ports: PortNames) => Problem> = {
  'sequence-classification': gives('logits'),
  entailment: gives('logits'),
  'masked-lm': gives('logits'),
  'token-classification': gives('logits'),
  'audio-classification': gives('logits'),
  'video-classification': gives('logits'),
  ctc: gives('logits'),
  'image-classification': gives('logits'),
  'image-segmentation': ({ outputs }) => (outputs.length > 0 ? undefined : 'gives nothing'),
  'depth-estimation': gives('predicted_depth'),
  'image-features': ({ outputs }) => (outputs.length > 0 ? undefined : 'gives nothing'),
  'object-detection': gives('logits', 'pred_boxes'),
  'image-text-matching': gives('logits_per_image'),
  'text-guided-detection': gives('logits', 'pred_boxes'),
  'visual-question-answering': gives('logits'),
  'document-reading': gives('start_logits', 'end_logits'),
  'question-answering': gives('start_logits', 'end_logits'),
  embedding: ({ outputs }) =>
    outputs.some((name) => !SCORES.test(name) && !CACHE_OUTPUT.test(name))
      ? undefined
      : `gives ${formatOutputs(outputs)}, no hidden states`,
  'causal-lm': (ports) =>
    gives('logits')(ports) ??
    (ports.inputs.some((name) => CACHE_INPUT.test(name)) ? undefined : 'has no key-value cache'),
  // Its graphs are several, and their loader knows what they owe each other.
  'mask-generation': () => undefined,
  'speech-seq2seq': () => undefined,
  speech: () => undefined,
  'text-to-image': () => undefined,
  'unconditional-image': () => undefined,
  'text-to-video': () => undefined,
  'image-to-text': () => undefined,
  'document-question-answering': () => undefined,
  'visual-answer-writing': () => undefined,
  'media-chat': () => undefined,
  // Its graphs are several, and their loader knows what they owe each other.
  'seq2seq-lm': () => undefined,
};

/** Name of the export for a head, if the exporter has a special one. */
const EXPORTS: Partial<Record<Head, string>> = {
  embedding: 'feature-extraction',
  'causal-lm': 'text-generation-with-past',
  entailment: 'text-classification',
};

export interface AbilityRequest {
  id: string;
  head: Head;
  task: TaskId;
  /** Role -> path. */
  graphs: Readonly<Record<string, string>>;
  notes: Pick<GraphNotes, 'ports'>;
}

/** @throws Refusal when the chosen graph is known to lack what the task needs */
export function requireAbility({ id, head, task, graphs, notes }: AbilityRequest): void {
  const path = graphs['model'];
  const ports = path === undefined ? undefined : notes.ports[path];
  // A graph without outputs is broken, which the loader reports better.
  const problem = ports && ports.outputs.length > 0 ? NEEDS[head](ports) : undefined;
  if (problem === undefined) return;
  throw new Refusal(
    `${path} of ${id} can't do ${task}: it ${problem}`,
    `take another --task, or export it for this one: optimum-cli export onnx --model ${id} --task ${EXPORTS[head] ?? task} DIR, then --from DIR`,
  );
}

/** Lists outputs for a message, with the caches of all layers as one. */
function formatOutputs(outputs: readonly string[]): string {
  const caches = outputs.some((name) => CACHE_OUTPUT.test(name)) ? ['a cache'] : [];
  return [...outputs.filter((name) => !CACHE_OUTPUT.test(name)), ...caches].join(', ') || 'nothing';
}
