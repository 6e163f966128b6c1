import type { Dtype, ModelInfo, ModelSpec } from '../../../runtime/core/spec.js';
import { isTaskId, type TaskId } from '../../../runtime/core/task-ids.js';
import { type GgufModel, ggufSizes } from '../../../runtime/gguf/index.js';
import type { ToolSupport } from '../../../runtime/core/tools.js';
import { type GgufVariant, ggufVariants, isGgufOnly } from '../../../runtime/store/choose-gguf.js';
import { formatSpec, parseSpec } from '../../../runtime/store/spec-file.js';
import { taskOf } from '../../../runtime/tasks/registry.js';
import { sizesOf } from '../network/sizes.js';
import { numbersIn, WeightsError } from '../../../runtime/weights/index.js';
import { imageMemory } from '../vision/image-memory.js';
import type { ModelFacts } from '../facts.js';
import type { ModelPlan, PlanRequest } from '../model-plan.js';
import { Refusal } from '../refusal.js';
import { architectureOf } from './architectures.js';
import { type ChosenGguf, chooseFile } from './choose-file.js';
import type { GgufAdapter } from '../adapter/index.js';
import { adapterIn, findAdapter } from './find-adapter.js';
import { type ChosenTower, chooseTower } from './towers/choose-tower.js';
import { ggufFacts } from './facts.js';
import { templateTools, toolNote } from '../tool-format.js';

/** What computes the file of a repository of GGUF. */
export interface LlamaChoice {
  /** By llama.cpp. */
  plan?: ModelPlan;
  /** Else the file that graphs of ours are to compute, and why they. */
  own?: {
    chosen: ChosenGguf;
    tower: ChosenTower | undefined;
    reason: string;
    /** Why images are not read, though there is a file for them. */
    note: string | undefined;
  };
  /** An adapter, which is merged into the model that it names. */
  adapter?: GgufAdapter;
  /** Where nobody has asked for graphs of ours: by llama.cpp after all, since they refuse it. */
  instead?(refusal: Refusal): ModelPlan;
}

/**
 * Decides whether llama.cpp computes a file of GGUF. Reads its header, no weights.
 * @returns undefined for a repository whose files of GGUF are not wanted
 * @throws Refusal when it can't be served; StoreError when the source fails
 */
export async function planLlama(request: PlanRequest, info: ModelInfo): Promise<LlamaChoice | undefined> {
  const { engine: asked, file, source } = request;
  const wanted = file ?? request.mmproj;
  if (wanted === undefined && asked !== 'llama' && !isGgufOnly(info.files)) return undefined;
  if (asked !== 'llama' && ggufVariants(info.files).length === 0)
    throw new Refusal(`${info.id} has no files of GGUF`, 'leave out --file and --mmproj');
  const variants = ggufVariants(info.files);
  const named = await findAdapter(request, info, variants);
  if (named) return { adapter: named };
  const { tower, note } = await chooseTower({ ...request, info, variants, asked });
  const chosen = await chooseFile(source, info, { file, engine: tower ? 'own' : asked });
  const adapter = await adapterIn(request, info, chosen.model);
  if (adapter) return { adapter };
  const { by, reason } = tower
    ? ({ by: 'own', reason: WITH_TOWER } as const)
    : computedBy(request, chosen.model);
  const plan = (why: string, unread = note) => planned(request, { info, chosen, why, unread });
  if (by === 'llama') return { plan: plan(reason) };
  const own = { chosen, tower, reason: `graph: ${reason}`, note };
  if (asked === 'own') return { own };
  const instead = (refusal: Refusal) =>
    plan(`since ${refusal.reason}`, tower ? `${tower.variant.path} is not read: texts alone` : note);
  // Images that are asked for are read, or the plan is refused.
  const images = request.task ?? request.mmproj;
  return tower && images !== undefined ? { own } : { own, instead };
}

const WITH_TOWER =
  'ours over the file and its tower, since llama.cpp reads no media here; --task chat leaves them out';

/** Types that graphs of ours read at their own speed, or faster than llama.cpp where several texts are written. */
const WIDE = /^(?:F32|F16|BF16|Q8_0)$/;

function computedBy(
  { engine: asked }: PlanRequest,
  file: GgufModel,
): { by: 'llama' | 'own'; reason: string } {
  if (asked !== undefined) return { by: asked, reason: 'asked for' };
  const narrow = file.tensors.find(({ type, shape }) => shape.length > 1 && !WIDE.test(type));
  if (narrow) return { by: 'llama', reason: `since it has ${narrow.type}, which is quickest there` };
  try {
    architectureOf(ggufFacts(file));
  } catch (error) {
    if (error instanceof WeightsError) return { by: 'llama', reason: `since it ${error.reason}` };
    throw error;
  }
  const reason =
    'ours over the file: a known architecture with 8 bits and more, whose answers do not depend on company';
  return { by: 'own', reason: `${reason}; --engine llama takes llama.cpp` };
}

interface Known {
  info: ModelInfo;
  chosen: ChosenGguf;
  /** Why llama.cpp. */
  why: string;
  /** Why images are not read. */
  unread: string | undefined;
}

function planned(request: PlanRequest, { info, chosen, why, unread }: Known): ModelPlan {
  const { variants, variant, reason, model: file } = chosen;
  const detected = taskFor(request, info, file);
  const { task } = detected;
  const binding = taskOf(task).engines.llama;
  if (!binding)
    throw new Refusal(
      `${info.id} has GGUF files only, and ${task} is not served over them`,
      'take the repository that they were made of; general.base_model in the file names it',
    );
  const tools = toolsOf(file, task);
  const spec = specOf({ info, variant, file, task });
  return {
    ...{ info, facts: factsFor(file), spec, formats: [spec], tools },
    reasons: [
      `file ${variant.path}: ${reason}`,
      detected.reason,
      `engine llama: loads ${binding.head} models by llama.cpp, ${why}`,
      ...(unread === undefined ? [] : [unread]),
      ...lengthNote(file),
      ...toolNote(tools),
    ],
    parameters: numbersIn(file.tensors),
    packedWeights: undefined,
    gguf: { variants, chosen: variant, reason },
  };
}

/** Of positions with factors for short and for long texts. */
function lengthNote({ metadata, tensors }: GgufModel): string[] {
  const { shortLength } = ggufSizes(metadata, tensors);
  if (shortLength === 0) return [];
  const what = `texts have at most ${shortLength} tokens together: llama.cpp computes positions by the length of its cache`;
  return [
    `${what}; with a larger CONTEXT_LENGTH short texts are computed as long ones are (--engine own takes each by its own)`,
  ];
}

const architectureName = ({ metadata }: GgufModel): string =>
  String(metadata.get('general.architecture') ?? 'unknown');

const templateOf = ({ metadata }: GgufModel): string | undefined => {
  const template = metadata.get('tokenizer.chat_template');
  return typeof template === 'string' ? template : undefined;
};

/** By what the operator says, the head, the pooling, and the template; tags of such repositories say little. */
function taskFor(
  { task }: PlanRequest,
  { id, pipelineTag }: ModelInfo,
  file: GgufModel,
): { task: TaskId; reason: string } {
  if (task !== undefined) {
    if (!isTaskId(task)) throw new Refusal(`there is no task ${task}`);
    if (task === 'chat' && templateOf(file) === undefined)
      throw new Refusal(
        `${id} has no chat template, so it can't hold a conversation`,
        'use --task text-generation',
      );
    return { task, reason: `task ${task}: asked for` };
  }
  const of = (key: string) => file.metadata.get(`${architectureName(file)}.${key}`);
  if (file.tensors.some(({ name }) => /^cls(?:\.output)?\.weight$/.test(name)))
    return {
      task: 'text-classification',
      reason: 'task text-classification: the file has a head that scores',
    };
  const pools = Number(of('pooling_type') ?? 0) > 0;
  if (pools || of('attention.causal') === false) {
    const task = pipelineTag === 'sentence-similarity' ? pipelineTag : 'feature-extraction';
    return { task, reason: `task ${task}: the file says how vectors of texts are made` };
  }
  return templateOf(file) === undefined
    ? { task: 'text-generation', reason: 'task text-generation: a language model without a chat template' }
    : { task: 'chat', reason: 'task chat: a language model with a chat template' };
}

function toolsOf(file: GgufModel, task: TaskId): ToolSupport | undefined {
  const source = templateOf(file);
  if (source === undefined || (task !== 'chat' && task !== 'text-generation')) return undefined;
  return templateTools(source);
}

/** Nearest names of weight formats; the file's own is in its name. */
function dtypeOf({ tensors }: GgufModel): Dtype {
  const matrices = tensors.filter(({ shape }) => shape.length >= 2);
  const bytes = matrices.reduce((sum, { length }) => sum + length, 0);
  const bits = (8 * bytes) / Math.max(1, numbersIn(matrices));
  if (bits > 24) return 'fp32';
  if (bits <= 12) return bits > 7 ? 'q8' : 'q4';
  return matrices.some(({ type }) => type === 'BF16') ? 'bf16' : 'fp16';
}

/** Names and texts of the prompts of an embedder, which no file of GGUF has. */
function filesBeside({ files }: ModelInfo, task: TaskId): ModelInfo['files'] {
  if (taskOf(task).engines.llama?.head !== 'embedding') return [];
  return files.filter(({ path }) => path === 'config_sentence_transformers.json');
}

interface Decided {
  info: ModelInfo;
  variant: GgufVariant;
  file: GgufModel;
  task: TaskId;
}

function specOf({ info, variant, file, task }: Decided): ModelSpec {
  const { id, revision, commit } = info;
  const license = file.metadata.get('general.license');
  const architecture = architectureName(file);
  return parseSpec(
    formatSpec({
      ...{ specVersion: 1, id, revision, commit, task, engine: 'llama', profile: 'llama' },
      ...{ dtype: dtypeOf(file), architecture, modelType: architecture },
      license: info.license ?? (typeof license === 'string' ? license : undefined),
      graphs: { model: variant.path },
      files: [...variant.files, ...filesBeside(info, task)],
    }),
  );
}

/** As far as forecasts need them. */
function factsFor(file: GgufModel): ModelFacts {
  const { layers, width, vocabulary, heads, feedForward, trainedLength } = ggufSizes(
    file.metadata,
    file.tensors,
  );
  const config = {
    ...{ hidden_size: width, num_hidden_layers: layers, vocab_size: vocabulary },
    ...{ num_attention_heads: heads, intermediate_size: feedForward, max_position_embeddings: trainedLength },
  };
  return {
    ...{ architectures: [architectureName(file)], modelType: architectureName(file), customCode: false },
    ...{
      readers: {},
      hasChatTemplate: templateOf(file) !== undefined,
      sentenceModules: false,
      hasTimmSettings: false,
    },
    ...{ network: { sizes: sizesOf(config) }, image: imageMemory(config, {}), notes: [], gguf: file },
  };
}
