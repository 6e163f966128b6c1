import { type Dtype, DTYPES, type ModelInfo, type ModelSpec } from '../../runtime/core/spec.js';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { levelOf, type PackedLevel } from '../../runtime/models/writer/packed-format.js';
import {
  type FileSelection,
  chooseFiles,
  type ChooseRequest,
  withExtra,
} from '../../runtime/store/choose-files.js';
import { StoreError } from '../../runtime/store/errors.js';
import type { ModelSource } from '../../runtime/store/source.js';
import { taskOf } from '../../runtime/tasks/registry.js';
import { requireAbility } from './ability.js';
import { type FoundAdapter, MERGE_REMEDY } from './adapter/index.js';
import { possibleTasks } from './architectures.js';
import type { ExportChoice } from '../export/choice.js';
import { planExport, type ToExport } from '../export/plan-export.js';
import type { ToolVersions } from '../export/types.js';
import { exportedReasons } from '../export/reasons.js';
import { type AnyBinding, chooseEngine } from './choose-engine.js';
import { chooseNamed } from './choose-named.js';
import { namedGraphs } from './export-manifest.js';
import { type GraphNotes, readGraphNotes } from './external.js';
import type { ModelFacts } from './facts.js';
import type { GgufRepository } from './gguf/open-gguf.js';
import { type NoGraphs, type OwnGraphs, type PackedWeights, writeOwnGraphs } from './own-graphs.js';
import { parametersOf } from './parameters.js';
import { Refusal } from './refusal.js';
import { noExport, requireFiles } from './requirements.js';

/** What an operator asks for. */
export interface WeightsRequest {
  source: ModelSource;
  dtype?: Dtype | undefined;
  /** Bits for each weight of matrices that are packed here, in place of a dtype. */
  bits?: number | undefined;
  /** Which weights to take, where there are both. */
  weights?: 'own' | 'onnx' | undefined;
  /** Fields of config.json, as paths, that are ignored where nothing reads them; recorded in the spec. */
  ignoreConfig?: readonly string[] | undefined;
  /** Whether graphs are exported where none can be written, and by what; never if absent. */
  exports?: { choice: ExportChoice; versions: ToolVersions } | undefined;
}

/** What has been decided before. */
export interface ToChoose {
  info: ModelInfo;
  facts: ModelFacts;
  task: TaskId;
  binding: AnyBinding;
  adapter: FoundAdapter | undefined;
  gguf?: GgufRepository | undefined;
}

export type Choice = Pick<FileSelection, 'dtype' | 'graphs' | 'files'> &
  Pick<ModelSpec, 'written'> & { ignored?: readonly string[]; exported?: Pick<ToExport, 'versions'> };

export interface ChosenWeights {
  choice: Choice;
  /** In other weight formats. */
  others: Choice[];
  /** Undefined where they were not counted. */
  parameters: number | undefined;
  reasons: string[];
  packedWeights?: PackedWeights | undefined;
  toExport?: ToExport | undefined;
}

/** Graphs of our own where they can be written, else the repository's ONNX export. */
export async function chooseWeights(request: WeightsRequest, model: ToChoose): Promise<ChosenWeights> {
  const { source, weights } = request;
  const { info, facts, binding, task, adapter } = model;
  const hasExport = info.files.some(({ path }) => path.endsWith('.onnx'));
  const own = await ownWeights(request, model);
  if ('graphs' in own) {
    requireFiles(info, taskOf(task), binding, facts);
    const files = withExtra(own.files, { info, extra: binding.files });
    const { parameters, reason, packedWeights } = own;
    return { choice: { ...own, files }, others: [], parameters, reasons: [reason], packedWeights };
  }
  if (adapter) throw cantMerge(info.id, adapter, own);
  const exported = await exportedWeights(request, model, { tried: own.tried, hasExport });
  if (typeof exported === 'object') return exported;
  if (weights === 'own' || (!hasExport && own.tried))
    throw new Refusal(`${info.id}: ${own.problem}`, own.remedy);
  const named = await namedGraphs(source, info, binding);
  if (!hasExport)
    throw noExport(info, facts, { exported, conversions: await conversionsOf(source, info.id) });
  requireFiles(info, taskOf(task), binding, facts);
  const { graphs, otherGraphs, files: extra } = binding;
  const wanted = { info, graphs, otherGraphs, extra };
  const ends = !isUsual(facts, binding);
  const { choice, notes } = named
    ? await chooseNamed(source, { ...named, info, extra, asked: request.dtype })
    : await choose(source, { ...wanted, dtype: request.dtype, ends });
  requireAbility({ id: info.id, head: binding.head, task, graphs: choice.graphs, notes });
  const others = named ? [] : otherFormats(wanted, choice.dtype);
  const formats = [choice, ...others];
  const instead = own.tried ? [`graph: the ONNX export, since ${own.problem}`] : [];
  return { choice, others, parameters: parametersOf(formats, notes), reasons: [...instead, choice.reason] };
}

/** The graph that transformers' exporter makes; a text says why not, where that was asked. */
async function exportedWeights(
  { source, weights, dtype, bits, exports }: WeightsRequest,
  { info, facts, task, binding, gguf }: ToChoose,
  { tried, hasExport }: { tried: boolean; hasExport: boolean },
): Promise<ChosenWeights | string | undefined> {
  if (!exports || weights !== undefined || gguf) return undefined;
  const { choice, versions } = exports;
  if ((tried || hasExport) && choice !== 'force') return undefined;
  const toExport = await planExport({ source, info, head: binding.head, choice, versions });
  if (typeof toExport === 'string') return toExport;
  const roles = toExport.graphs.map(({ role }) => role);
  if (!coversTask(binding, roles)) return `no export for ${task}: its graphs are ${roles.join(', ')}`;
  if (bits !== undefined || (dtype !== undefined && dtype !== toExport.dtype))
    throw new Refusal(
      `${info.id}: an exported graph reads the weights as they are, in ${toExport.dtype}`,
      'leave out --dtype and --bits',
    );
  requireFiles(info, taskOf(task), binding, facts);
  const weightFiles = toExport.sources.filter(({ path }) => path.endsWith('.safetensors'));
  const files = withExtra(weightFiles, { info, extra: binding.files });
  const graphs = Object.fromEntries(toExport.graphs.map(({ role, path }) => [role, path]));
  return {
    choice: { dtype: toExport.dtype, graphs, files, exported: toExport },
    ...{ others: [], parameters: toExport.parameters, reasons: exportedReasons(toExport), toExport },
  };
}

/** An adapter is served over graphs of our own alone. */
function cantMerge(id: string, { base }: FoundAdapter, { problem, remedy }: NoGraphs): Refusal {
  return new Refusal(`${id} is an adapter of ${base.id}: ${problem}`, remedy ?? MERGE_REMEDY);
}

/** Weight formats that are made of a repository's PyTorch weights. */
const PACKED_BITS: Partial<Record<Dtype, PackedLevel>> = { q8: 8, q6: 6, q5: 5, q4: 4 };

/** Whether these graphs are all that the task runs. */
const coversTask = ({ graphs, otherGraphs = [] }: AnyBinding, roles: readonly string[]): boolean =>
  [graphs, ...otherGraphs].some((set) => set.every((role) => roles.includes(role)));

/** A hint for a refusal, which must come all the same where the hub does not answer. */
async function conversionsOf(source: ModelSource, id: string): Promise<string[]> {
  return (await source.conversions?.(id).catch(() => [])) ?? [];
}

/** What is in the way says the reason why not. */
async function ownWeights(
  { source, weights, dtype, bits: budget, ignoreConfig }: WeightsRequest,
  { info, facts, binding, adapter, gguf }: ToChoose,
): Promise<OwnGraphs | NoGraphs> {
  if (weights === 'onnx') {
    const remedy = adapter && 'an adapter is merged into PyTorch weights: leave out --weights onnx';
    return { problem: 'asked for the ONNX export', remedy, tried: false };
  }
  const bits = budget === undefined ? dtype && PACKED_BITS[dtype] : levelOf(budget);
  const { graphs, otherGraphs, files: extra } = binding;
  // Weights that are packed here are on no hub: an image could not fetch them.
  const isFree = weights !== 'own' && budget === undefined;
  const exported = bits && isFree && exportOf({ info, graphs, otherGraphs, extra, dtype });
  if (exported) return { problem: `an export of ${dtype} is there`, tried: false };
  const name = facts.pipelineClass;
  const pipeline = name === undefined ? undefined : { name, graphs: [graphs, ...(otherGraphs ?? [])] };
  const { head } = binding;
  const { modelType } = facts;
  const own = await writeOwnGraphs({
    ...{ source, info, head, modelType, pipeline, dtype, bits, budget, adapter, ignoreConfig, gguf },
  });
  if (!('graphs' in own)) return own;
  const roles = Object.keys(own.graphs);
  if (!coversTask(binding, roles))
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
