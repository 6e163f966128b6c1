import type { BaseModel, EngineId, ModelInfo, ModelSpec } from '../../runtime/core/spec.js';
import type { NetworkFacts } from '../../runtime/core/network.js';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { formatSpec, parseSpec } from '../../runtime/store/spec-file.js';
import { familyOf } from '../../runtime/models/registry.js';
import { taskOf } from '../../runtime/tasks/registry.js';
import { findBase, findBeside } from './adapter/index.js';
import { chooseEngine } from './choose-engine.js';
import { type Choice, chooseWeights } from './choose-weights.js';
import { RECIPE_VERSION } from '../export/types.js';
import type { ModelPlan, PlanRequest } from './model-plan.js';
import { type LlamaChoice, planLlama } from './gguf/plan-llama.js';
import { Refusal } from './refusal.js';
import { detectTask } from './detect-task.js';
import { type ModelFacts, readFacts } from './facts.js';
import { type GgufRepository, openGguf } from './gguf/open-gguf.js';
import { refuseMarkedFiles, requireConfig } from './json-files.js';
import { packingNote } from './packing-note.js';
import { requirePipeline, withVocabulary } from './requirements.js';
import { toolFormat, toolNote } from './tool-format.js';

export type { ModelPlan, PlanRequest } from './model-plan.js';

/**
 * Decides how a model is served. Reads the listing, small JSON files and small graphs, but no weights.
 * @throws Refusal when it can't be served; StoreError when the source fails
 */
export async function planModel(request: PlanRequest): Promise<ModelPlan> {
  const listed = await request.source.info(request.id, request.revision);
  const llama = await planLlama(request, listed);
  if (llama?.plan) return llama.plan;
  try {
    return await planOwn(request, listed, llama);
  } catch (error) {
    const instead = error instanceof Refusal && llama?.instead?.(error);
    if (instead) return instead;
    throw error;
  }
}

/** Graphs of ours, or the repository's ONNX export. @param own the file of GGUF that they are written over, and why they */
async function planOwn(
  request: PlanRequest,
  listed: ModelInfo,
  { own, adapter: lora }: Pick<LlamaChoice, 'own' | 'adapter'> = {},
): Promise<ModelPlan> {
  const gguf = own && (await openGguf(request.source, listed, own.chosen, own.tower));
  const bases = request.bases ?? request.source;
  const adapter = gguf ? undefined : await findBase(request.source, bases, listed, lora);
  const given = gguf ?? adapter ?? { source: request.source, info: listed };
  requireConfig(given.info);
  const facts = await readFacts(given.source, given.info);
  const detected = detectTask({ info: given.info, facts, task: request.task });
  const task = taskOf(detected.task);
  requirePipeline(given.info, facts, detected.task);
  const { engine, binding: usual } = chooseEngine(task, facts.modelType);
  const { modelType } = facts;
  const beside = await findBeside(given, bases, { modelType, head: usual.head });
  const { source, info } = beside ?? given;
  const binding = withVocabulary(usual, info, facts);
  const base = adapter?.base ?? beside?.base;
  const decided = { info, facts, task: detected.task, profile: task.profile, engine, adapter, base, gguf };
  const { choice, others, parameters, reasons, packedWeights, toExport } = await chooseWeights(
    { ...request, source },
    { ...decided, binding },
  );
  const [spec, ...rest] = [choice, ...others].map((one) => specOf({ ...decided, choice: one }));
  const formats = [spec!, ...rest];
  // By GPTQ or AWQ: eight bits would change nothing.
  const cameInFourBits = packedWeights !== undefined && packedWeights.plain === undefined && !adapter;
  await refuseMarkedFiles(source, info, spec!.files);
  const tools = await toolFormat(source, info, detected.task);
  return {
    ...{ info, facts, formats },
    spec: spec!,
    reasons: [
      ...(own ? [own.reason] : []),
      ...ggufNote(gguf),
      ...(own?.note === undefined ? [] : [own.note]),
      ...[detected.reason, `engine ${engine}: loads ${binding.head} models`, ...reasons],
      ...(cameInFourBits
        ? []
        : packingNote(request.bits === undefined ? request.dtype : spec!.dtype, parameters)),
      ...ignoredNote(spec!),
      ...toolNote(tools),
      ...facts.notes,
      ...limitNotes(spec!),
    ],
    ...{ parameters, tools, packedWeights, toExport },
    ...(gguf && {
      gguf: { variants: gguf.variants, chosen: gguf.chosen, reason: gguf.reason, tower: gguf.tower },
    }),
  };
}

const ggufNote = (gguf: GgufRepository | undefined): string[] =>
  [gguf && { variant: gguf.chosen, reason: gguf.reason }, gguf?.tower].flatMap((one) =>
    one ? [`file ${one.variant.path}: ${one.reason}`] : [],
  );

/** Of graphs of ours: a family's limits are those of its graphs and of what reads its files. */
const limitNotes = ({ modelType, written }: ModelSpec): string[] =>
  written ? (familyOf(modelType)?.limits ?? []).map((limit) => `${modelType}: ${limit}`) : [];

const ignoredNote = ({ ignoredConfig = [] }: ModelSpec): string[] =>
  ignoredConfig.length === 0 ? [] : [`config.json: ignored as asked: ${ignoredConfig.join(', ')}`];

interface Decided {
  info: ModelInfo;
  facts: ModelFacts;
  task: TaskId;
  profile: ModelSpec['profile'];
  engine: EngineId;
  choice: Choice;
  base: BaseModel | undefined;
}

/** Parts over images say nothing of models that read none. */
function forTask({ image, ...network }: NetworkFacts, id: TaskId): NetworkFacts {
  const { profile, modality } = taskOf(id);
  return profile === 'vision' || modality === 'image' || modality === 'video'
    ? { ...network, image }
    : network;
}

function specOf({ info, facts, task, profile, engine, choice, base }: Decided): ModelSpec {
  const spec: ModelSpec = {
    specVersion: 1,
    id: info.id,
    revision: info.revision,
    commit: info.commit,
    task,
    engine,
    profile,
    dtype: choice.dtype,
    architecture: facts.architectures[0],
    modelType: facts.modelType,
    license: info.license,
    graphs: choice.graphs,
    files: choice.files,
    ...(base && { base }),
    ...(choice.written && { written: choice.written }),
    network: forTask(facts.network, task),
    readers: facts.readers,
    ...(choice.exported && { exported: { recipe: RECIPE_VERSION, tools: { ...choice.exported.versions } } }),
    ...(choice.ignored?.length && { ignoredConfig: [...choice.ignored] }),
  };
  return parseSpec(formatSpec(spec));
}
