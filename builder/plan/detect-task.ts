import type { ModelInfo } from '../../runtime/core/spec.js';
import { isTaskId, TASK_IDS, type TaskId } from '../../runtime/core/task-ids.js';
import { familyOf } from '../../runtime/models/registry.js';
import { possibleTasks, taskOfModelType } from './architectures.js';
import type { ModelFacts } from './facts.js';
import { Refusal } from './refusal.js';
import { noExport } from './requirements.js';

export interface DetectRequest {
  info: Pick<ModelInfo, 'id' | 'pipelineTag' | 'tags' | 'libraryName' | 'files'>;
  facts: ModelFacts;
  /** The operator's choice; refused when the model can't do it. */
  task?: string | undefined;
}

export interface DetectedTask {
  task: TaskId;
  /** Why this task was chosen. */
  reason: string;
}

/** Other names of our tasks. */
const ALIASES: Record<string, TaskId> = {
  conversational: 'chat',
  'sentiment-analysis': 'text-classification',
  ner: 'token-classification',
  embeddings: 'feature-extraction',
  'background-removal': 'image-segmentation',
  vqa: 'visual-question-answering',
  'audio-to-text': 'automatic-speech-recognition',
};

/** What rerankers are tagged with: classifiers of a question and a passage (cross-encoders), nearly all of one label. */
const RANKING = 'text-ranking';
const AS_PAIRS =
  'a cross-encoder scores pairs: the question is text, the passage params.text_pair; ' +
  'params.function_to_apply none gives the logit instead of its sigmoid';

/**
 * Chooses the task of a model from the facts of its repository. Pure.
 * @throws Refusal when the facts don't say, or contradict the choice
 */
export function detectTask(request: DetectRequest): DetectedTask {
  const detected = request.task === undefined ? withTemplate(guess(request), request) : asked(request.task);
  checkPossible(detected, request);
  if (detected.task !== 'chat' || request.facts.hasChatTemplate) return detected;
  throw new Refusal(
    `${request.info.id} has no chat template, so it can't hold a conversation`,
    'use --task text-generation, or add a chat_template.jinja and give the folder with --from',
  );
}

function asked(task: string): DetectedTask {
  if (isTaskId(task)) return { task, reason: `task ${task}: asked for` };
  throw new Refusal(`"${task}" is not a task`, `use one of ${TASK_IDS.join(', ')}`);
}

function guess(request: DetectRequest): DetectedTask {
  const { info, facts } = request;
  const tag = info.pipelineTag;
  const tagged = tag === undefined ? undefined : taskNamed(tag);
  if (tagged) return { task: tagged, reason: `pipeline_tag ${tag}` };
  if (tag === RANKING && possibleTasks(facts)?.includes('text-classification'))
    return { task: 'text-classification', reason: `pipeline_tag ${RANKING}, ${AS_PAIRS}` };
  if (tag !== undefined) throw foreignTask(tag, request);
  const possible = possibleTasks(facts);
  const encodes = possible?.includes('sentence-similarity') ?? true;
  // Rerankers of this library are classifiers and not included here.
  if (encodes && (info.libraryName === 'sentence-transformers' || facts.sentenceModules))
    return { task: 'sentence-similarity', reason: 'a sentence-transformers repository' };
  const usual = possible?.[0];
  if (usual) return { task: usual, reason: facts.pipelineClass ?? facts.architectures.join(', ') };
  const byTags = [...new Set(info.tags.flatMap((name) => taskNamed(name) ?? []))];
  if (byTags.length === 1) return { task: byTags[0]!, reason: `tag ${byTags[0]}` };
  const byType = taskOfModelType(facts);
  if (byType) return { task: byType, reason: `model_type ${facts.modelType}` };
  // No task would help a model that nothing here computes.
  const hasExport = info.files.some(({ path }) => path.endsWith('.onnx'));
  if (facts.modelType !== undefined && !hasExport && !familyOf(facts.modelType)) throw noExport(info, facts);
  throw new Refusal(
    `nothing in ${info.id} tells its task`,
    `give it with --task, one of ${TASK_IDS.join(', ')}`,
  );
}

function taskNamed(name: string): TaskId | undefined {
  if (isTaskId(name)) return name;
  return Object.hasOwn(ALIASES, name) ? ALIASES[name] : undefined;
}

/** A text generator with a chat template is a chat model, and a chat model without one is a text generator. */
function withTemplate({ task, reason }: DetectedTask, { facts }: DetectRequest): DetectedTask {
  const isText = task === 'text-generation' || task === 'chat';
  if (!isText) return { task, reason: `task ${task}: ${reason}` };
  return facts.hasChatTemplate
    ? { task: 'chat', reason: `task chat: ${reason} and a chat template` }
    : { task: 'text-generation', reason: `task text-generation: ${reason}, no chat template` };
}

function checkPossible({ task, reason }: DetectedTask, { info, facts }: DetectRequest): void {
  const possible = possibleTasks(facts);
  if (!possible || possible.includes(task)) return;
  const architecture = facts.pipelineClass ?? facts.architectures.join(', ');
  throw new Refusal(
    `${info.id} is a ${architecture}, which can't do ${task} (${reason})`,
    possible.length > 0 ? `use --task ${possible.join(' or --task ')}` : undefined,
  );
}

function foreignTask(tag: string, { info, facts }: DetectRequest): Refusal {
  const possible = possibleTasks(facts) ?? [];
  const remedy =
    possible.length > 0
      ? `its architecture could do --task ${possible.join(' or --task ')}`
      : `if it can do one of them, name it with --task: ${TASK_IDS.join(', ')}`;
  return new Refusal(`${info.id} is made for ${tag}, which is not one of the tasks served`, remedy);
}
