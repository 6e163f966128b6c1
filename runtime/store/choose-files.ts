import { type Dtype, DTYPES, type ModelInfo, type RepoFile } from '../core/spec.js';
import { StoreError } from './errors.js';
import { externalFiles, type ExternalFileNames } from './external-files.js';
import { compareFolders, type GraphFile, graphFiles } from './graph-files.js';

export interface ChooseRequest {
  info: Pick<ModelInfo, 'id' | 'files'>;
  /** Graph roles, one ONNX file each. */
  graphs: readonly string[];
  /** Alternative sets of roles, used if the first has no better export. */
  otherGraphs?: readonly (readonly string[])[] | undefined;
  /** Other files, as names or patterns of `*` and `[0-9]`; taken if they exist. */
  extra: readonly string[];
  /** Required weight format; by default the best one available. */
  dtype?: Dtype | undefined;
  /** Names of external weight files by graph path, if they were read from the graph. */
  external?: ExternalFileNames | undefined;
}

export interface FileSelection {
  dtype: Dtype;
  /** Why this weight format was chosen. */
  reason: string;
  /** Role -> path. */
  graphs: Record<string, string>;
  /** All files that are needed, and no others, sorted by path. */
  files: RepoFile[];
}

/** From the most exact to the least: fp32 gives the same answers as Python. */
const PREFERENCE: readonly Dtype[] = [
  'fp32',
  'fp16',
  'bf16',
  'q8',
  'int8',
  'uint8',
  'q6',
  'q5',
  'q4',
  'q4f16',
  'bnb4',
];

/**
 * Chooses the files of a model. Pure: the same listing always gives the same choice.
 * @throws StoreError not_found when a graph or the requested weight format is missing; it names what is available
 */
export function chooseFiles(request: ChooseRequest): FileSelection {
  const { info, external } = request;
  const { set, reason } = chooseGraphs(request);
  const graphs = set.graphs.map(({ file }) => file);
  const chosen = new Map<string, RepoFile>(graphs.map((file) => [file.path, file]));
  for (const graph of graphs) {
    for (const file of externalFiles(graph, info.files, external)) chosen.set(file.path, file);
  }
  return {
    dtype: set.dtype,
    reason,
    graphs: Object.fromEntries(set.graphs.map(({ role, file }) => [role, file.path])),
    files: withExtra([...chosen.values()], request),
  };
}

/** Of weights in two formats only safetensors are read. */
function hasBetterTwin({ path }: RepoFile, files: readonly RepoFile[]): boolean {
  const twin = path.replace(/(^|\/)pytorch_model\.bin$/, '$1model.safetensors');
  return twin !== path && files.some((file) => file.path === twin);
}

/** These files, and those that are read beside any graph, sorted by path. */
export function withExtra(
  files: readonly RepoFile[],
  { info, extra }: Pick<ChooseRequest, 'info' | 'extra'>,
): RepoFile[] {
  const wanted = [...extra, 'config.json'].map(pattern);
  const isWanted = ({ path }: RepoFile) => wanted.some((name) => name.test(path));
  const found = info.files.filter((file) => isWanted(file) && !hasBetterTwin(file, info.files));
  const all = new Map([...files, ...found].map((file) => [file.path, file]));
  return [...all.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** One complete export: every role in one weight format in one folder. */
interface GraphSet {
  dtype: Dtype;
  base: string;
  rank: number;
  graphs: GraphFile[];
}

function chooseGraphs(request: ChooseRequest): { set: GraphSet; reason: string } {
  const { info, graphs: roles, otherGraphs = [], dtype } = request;
  const sets = [roles, ...otherGraphs].flatMap((set) => completeSets(graphFiles(info.files, set), set));
  const alias = sets.length === 0 ? mergedDecoder(info.files, roles) : [];
  const all = [...sets, ...alias].sort(compareSets);
  const available = DTYPES.filter((format) => all.some((set) => set.dtype === format));
  if (all.length === 0) throw noGraphs(info, fewest([roles, ...otherGraphs]));
  if (dtype === undefined) return { set: all[0]!, reason: reasonOf(all[0]!, available) };
  const set = all.find((candidate) => candidate.dtype === dtype);
  if (set) return { set, reason: `dtype ${dtype}: asked for` };
  throw new StoreError('not_found', `${info.id} has no ${dtype} weights`, {
    remedy: `take one of ${available.join(', ')} with --dtype`,
  });
}

function completeSets(found: readonly GraphFile[], roles: readonly string[]): GraphSet[] {
  const sets = new Map<string, GraphSet>();
  for (const { dtype, base } of found) {
    const key = `${dtype} ${base}`;
    if (sets.has(key)) continue;
    const graphs = roles.map((role) =>
      best(found.filter((g) => g.role === role && g.dtype === dtype && g.base === base)),
    );
    if (graphs.some((graph) => graph === undefined)) continue;
    const known = graphs as GraphFile[];
    sets.set(key, { dtype, base, graphs: known, rank: Math.max(...known.map(({ rank }) => rank)) });
  }
  return [...sets.values()];
}

function best(found: GraphFile[]): GraphFile | undefined {
  return found.sort((a, b) => a.rank - b.rank || (a.file.path < b.file.path ? -1 : 1))[0];
}

function compareSets(a: GraphSet, b: GraphSet): number {
  const preference = PREFERENCE.indexOf(a.dtype) - PREFERENCE.indexOf(b.dtype);
  return a.rank - b.rank || preference || compareFolders(a.base, b.base);
}

/** Older exports of decoder-only models name their only graph decoder_model_merged. */
function mergedDecoder(files: readonly RepoFile[], roles: readonly string[]): GraphSet[] {
  if (roles.length !== 1 || roles[0] !== 'model') return [];
  if (graphFiles(files, ['encoder_model']).length > 0) return [];
  const found = graphFiles(files, ['decoder_model_merged']).map((graph) => ({ ...graph, role: 'model' }));
  return completeSets(found, roles);
}

function reasonOf({ dtype, rank, graphs }: GraphSet, available: readonly Dtype[]): string {
  if (rank > 0) return `dtype ${dtype}: ${graphs[0]!.file.path} is the only kind of export that is there`;
  if (dtype === 'fp32') return 'dtype fp32: gives the same answers as Python';
  if (available.length === 1) return `dtype ${dtype}: the only one that is there`;
  return `dtype ${dtype}: the most exact of ${available.join(', ')}; fp32 is not there`;
}

/** Where several sets serve, what is missing is best said of the smallest one. */
function fewest(sets: readonly (readonly string[])[]): readonly string[] {
  return sets.reduce((least, set) => (set.length < least.length ? set : least));
}

function noGraphs({ id, files }: ChooseRequest['info'], roles: readonly string[]): StoreError {
  const present = files.filter(({ path }) => path.endsWith('.onnx')).map(({ path }) => path);
  const wanted = roles.map((role) => `${role}.onnx`).join(' + ');
  const reason = `${id} has no ONNX export with ${wanted}`;
  const listed = present.slice(0, 8).join(', ');
  return new StoreError('not_found', present.length > 0 ? `${reason} (there is ${listed})` : reason);
}

const WILDCARDS: Readonly<Record<string, string>> = { '*': '[^/]*', '[0-9]': '[0-9]' };

/** A pattern for names: `*` matches any characters except slashes, `[0-9]` a digit. */
function pattern(text: string): RegExp {
  const parts = text.split(/(\*|\[0-9\])/);
  const escaped = parts.map((part) => WILDCARDS[part] ?? part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${escaped.join('')}$`);
}
