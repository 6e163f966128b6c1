import {
  type Dtype,
  DTYPES,
  type EngineId,
  type ModelInfo,
  type ModelSpec,
} from '../../runtime/core/spec.js';
import type { TaskId } from '../../runtime/core/task-ids.js';
import {
  type FileSelection,
  chooseFiles,
  type ChooseRequest,
  withExtra,
} from '../../runtime/store/choose-files.js';
import { StoreError } from '../../runtime/store/errors.js';
import type { ModelSource } from '../../runtime/store/source.js';
import { formatSpec, parseSpec } from '../../runtime/store/spec-file.js';
import { taskOf } from '../../runtime/tasks/registry.js';
import { type FoundAdapter, findBase, MERGE_REMEDY } from './adapter/index.js';
import { possibleTasks } from './architectures.js';
import { type AnyBinding, chooseEngine } from './choose-engine.js';
import { detectTask } from './detect-task.js';
import { type GraphNotes, readGraphNotes } from './external.js';
import { type ModelFacts, readFacts } from './facts.js';
import { refuseMarkedFiles, requireConfig } from './json-files.js';
import { type NoGraphs, type OwnGraphs, type ToMake, writeOwnGraphs } from './own-graphs.js';
import { parametersOf } from './parameters.js';
import { packingNote } from './packing-note.js';
import { Refusal } from './refusal.js';
import { requireAbility } from './ability.js';
import { noExport, requireFiles, requirePipeline, withVocabulary } from './requirements.js';

export interface PlanRequest {
  source: ModelSource;
  /** Where the base models of adapters come from; `source` if absent. */
  bases?: ModelSource | undefined;
  id: string;
  /** Branch, tag or commit; by default `main`. */
  revision?: string | undefined;
  /** Overrides the task of the repository. */
  task?: string | undefined;
  dtype?: Dtype | undefined;
  /** Which weights to take, where there are both. */
  weights?: 'own' | 'onnx' | undefined;
  /** Fields of config.json, as paths, that are ignored where nothing reads them; recorded in the spec. */
  ignoreConfig?: readonly string[] | undefined;
}

export interface ModelPlan {
  info: ModelInfo;
  facts: ModelFacts;
  /** As written to model.json. */
  spec: ModelSpec;
  /** Reasons for task, engine and weight format, one sentence each. */
  reasons: string[];
  /** The model in all available weight formats, including the chosen one. */
  formats: ModelSpec[];
  /** Number of the network's parameters; undefined when not known. */
  parameters: number | undefined;
  /** A file of the spec that is still to be made (builder/pack/), and therefore has no hash there. */
  toMake?: ToMake | undefined;
}

/**
 * Decides how a model is served. Reads the listing, small JSON files and small graphs, but no weights.
 * @throws Refusal when it can't be served; StoreError when the source fails
 */
export async function planModel(request: PlanRequest): Promise<ModelPlan> {
  const listed = await request.source.info(request.id, request.revision);
  const adapter = await findBase(request.source, request.bases ?? request.source, listed);
  const { source, info } = adapter ?? { source: request.source, info: listed };
  requireConfig(info);
  const facts = await readFacts(source, info);
  const detected = detectTask({ info, facts, task: request.task });
  const task = taskOf(detected.task);
  requirePipeline(info, facts, detected.task);
  const { engine, binding: given } = chooseEngine(task, facts.modelType);
  const binding = withVocabulary(given, info, facts);
  const decided = { info, facts, task: detected.task, profile: task.profile, engine, adapter };
  const { choice, others, parameters, reasons, toMake } = await chooseWeights(
    { ...request, source },
    { ...decided, binding },
  );
  const [spec, ...rest] = [choice, ...others].map((one) => specOf({ ...decided, choice: one }));
  const formats = [spec!, ...rest];
  // By GPTQ or AWQ: eight bits would change nothing.
  const cameInFourBits = toMake !== undefined && toMake.plain === undefined && !adapter;
  await refuseMarkedFiles(source, info, spec!.files);
  return {
    ...{ info, facts, formats },
    spec: spec!,
    reasons: [
      ...[detected.reason, `engine ${engine}: loads ${binding.head} models`, ...reasons],
      ...(cameInFourBits ? [] : packingNote(request.dtype, parameters)),
      ...ignoredNote(spec!),
      ...facts.notes,
    ],
    ...{ parameters, toMake },
  };
}

const ignoredNote = ({ ignoredConfig = [] }: ModelSpec): string[] =>
  ignoredConfig.length === 0 ? [] : [`config.json: ignored as asked: ${ignoredConfig.join(', ')}`];

interface ChosenWeights {
  choice: Choice;
  /** In other weight formats. */
  others: Choice[];
  /** Undefined where they were not counted. */
  parameters: number | undefined;
  reasons: string[];
  toMake?: ToMake | undefined;
}

type ToChoose = Omit<Decided, 'choice'> & { binding: AnyBinding };

/** Graphs of our own where they can be written, else the repository's ONNX export. */
async function chooseWeights(request: PlanRequest, model: ToChoose): Promise<ChosenWeights> {
  const { source, weights } = request;
  const { info, facts, binding, task, adapter } = model;
  const hasExport = info.files.some(({ path }) => path.endsWith('.onnx'));
  const own = await ownWeights(request, model);
  if ('graphs' in own) {
    requireFiles(info, taskOf(task), binding, facts);
    const files = withExtra(own.files, { info, extra: binding.files });
    const { parameters, reason, toMake } = own;
    return { choice: { ...own, files }, others: [], parameters, reasons: [reason], toMake };
  }
  if (adapter) throw cantMerge(info.id, adapter, own);
  if (weights === 'own' || (!hasExport && own.tried))
    throw new Refusal(`${info.id}: ${own.problem}`, own.remedy);
  if (!hasExport) throw noExport(info, facts, await conversionsOf(source, info.id));
  requireFiles(info, taskOf(task), binding, facts);
  const { graphs, otherGraphs, files: extra } = binding;
  const wanted = { info, graphs, otherGraphs, extra };
  const ends = !isUsual(facts, binding);
  const { choice, notes } = await choose(source, { ...wanted, dtype: request.dtype, ends });
  requireAbility({ id: info.id, head: binding.head, task, graphs: choice.graphs, notes });
  const others = otherFormats(wanted, choice.dtype);
  const formats = [choice, ...others];
  const instead = own.tried ? [`graph: the ONNX export, since ${own.problem}`] : [];
  return { choice, others, parameters: parametersOf(formats, notes), reasons: [...instead, choice.reason] };
}

/** An adapter is served over graphs of our own alone. */
function cantMerge(id: string, { base }: FoundAdapter, { problem, remedy }: NoGraphs): Refusal {
  return new Refusal(`${id} is an adapter of ${base.id}: ${problem}`, remedy ?? MERGE_REMEDY);
}

/** Weight formats that are made of a repository's PyTorch weights. */
const PACKED_BITS: Partial<Record<Dtype, 4 | 8>> = { q8: 8, q4: 4 };

/** A hint for a refusal, which must come all the same where the hub does not answer. */
async function conversionsOf(source: ModelSource, id: string): Promise<string[]> {
  return (await source.conversions?.(id).catch(() => [])) ?? [];
}

/** What is in the way says the reason why not. */
async function ownWeights(
  { source, weights, dtype, ignoreConfig }: PlanRequest,
  { info, facts, binding, adapter }: ToChoose,
): Promise<OwnGraphs | NoGraphs> {
  if (weights === 'onnx') {
    const remedy = adapter && 'an adapter is merged into PyTorch weights: leave out --weights onnx';
    return { problem: 'asked for the ONNX export', remedy, tried: false };
  }
  const bits = dtype && PACKED_BITS[dtype];
  const { graphs, otherGraphs, files: extra } = binding;
  // Weights that are packed here are on no hub: an image could not fetch them.
  const exported = bits && weights !== 'own' && exportOf({ info, graphs, otherGraphs, extra, dtype });
  if (exported) return { problem: `an export of ${dtype} is there`, tried: false };
  const name = facts.pipelineClass;
  const pipeline = name === undefined ? undefined : { name, graphs: [graphs, ...(otherGraphs ?? [])] };
  const { head } = binding;
  const { modelType } = facts;
  const own = await writeOwnGraphs({
    ...{ source, info, head, modelType, pipeline, dtype, bits, adapter, ignoreConfig },
  });
  if (!('graphs' in own)) return own;
  const roles = Object.keys(own.graphs);
  if (![graphs, ...(otherGraphs ?? [])].some((set) => set.every((role) => roles.includes(role))))
    return {
      problem: `the graphs of ${facts.modelType} are ${roles.join(', ')}, not ${graphs.join(', ')}`,
      tried: false,
    };
  if (dtype === undefined || dtype === own.dtype) return own;
  return {
    problem: `its weights are ${own.dtype}, not ${dtype}`,
    remedy: `take --dtype ${own.dtype}`,
    tried: true,
  };
}

/** True if the usual export of this architecture has the head. */
function isUsual(facts: ModelFacts, { head }: AnyBinding): boolean {
  const usual = possibleTasks(facts)?.[0];
  const task = usual && taskOf(usual);
  return task !== undefined && chooseEngine(task, facts.modelType).binding.head === head;
}

/** Chooses files by name, then again with the external files that the chosen graphs name. */
async function choose(
  source: ModelSource,
  { ends, ...request }: ChooseRequest & { info: ModelInfo; ends: boolean },
): Promise<{ choice: FileSelection; notes: GraphNotes }> {
  try {
    const first = chooseFiles(request);
    const { info: ref } = request;
    const graphs = Object.values(first.graphs);
    const notes = await readGraphNotes({ source, ref, files: ref.files, graphs, ends });
    return { choice: chooseFiles({ ...request, external: notes.external }), notes };
  } catch (error) {
    if (error instanceof StoreError && error.kind === 'not_found') throw new Refusal(error.message);
    throw error;
  }
}

/** Complete exports in other weight formats, by name only. */
function otherFormats(request: ChooseRequest, chosen: Dtype): FileSelection[] {
  return DTYPES.filter((dtype) => dtype !== chosen).flatMap((dtype) => exportOf({ ...request, dtype }) ?? []);
}

/** The complete export in a weight format, by name only; undefined where there is none. */
function exportOf(request: ChooseRequest): FileSelection | undefined {
  try {
    return chooseFiles(request);
  } catch (error) {
    if (error instanceof StoreError && error.kind === 'not_found') return undefined;
    throw error;
  }
}

interface Decided {
  info: ModelInfo;
  facts: ModelFacts;
  task: TaskId;
  profile: ModelSpec['profile'];
  engine: EngineId;
  choice: Choice;
  adapter: FoundAdapter | undefined;
}

type Choice = Pick<FileSelection, 'dtype' | 'graphs' | 'files'> &
  Pick<ModelSpec, 'written'> & { ignored?: readonly string[] };

function specOf({ info, facts, task, profile, engine, choice, adapter }: Decided): ModelSpec {
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
    ...(adapter && { base: adapter.base }),
    ...(choice.written && { written: choice.written }),
    ...(choice.ignored?.length && { ignoredConfig: [...choice.ignored] }),
  };
  return parseSpec(formatSpec(spec));
}
