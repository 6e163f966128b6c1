import { createHash } from 'node:crypto';
import type { Dtype, RepoFile, WrittenGraph } from '../../runtime/core/spec.js';
import { GraphError } from '../../runtime/models/writer/errors.js';
import {
  type Formats,
  packedStorage,
  type Recipe,
  type Storage,
} from '../../runtime/models/writer/storage.js';
import { familyOf } from '../../runtime/models/registry.js';
import { hasWriter, writeGraphs, type WrittenGraphs } from '../../runtime/models/write-graphs.js';
import { numbersIn, type StoredTensor, WeightsError } from '../../runtime/weights/index.js';
import { printable } from '../../runtime/core/printable.js';
import { UnreadFieldsError } from './config/require-read.js';
import { ggufNetwork, MODEL, type Network, type OwnRequest, readNetwork } from './own-network.js';
import { checkpointOf, type FoundNetwork, type NetworkPlace, pipelineNetworks } from './pipeline-networks.js';
import { QuantizedError, quantizationOf, unquantizedRemedy } from './quantized.js';
import { requireUsed } from './gguf/require-used.js';
import type { MadeFile } from './gguf/virtual-repository.js';
import { Refusal } from './refusal.js';
import { weightsText } from './weights-text.js';

/** Graphs that were written for a repository. */
export interface OwnGraphs {
  /** Role -> path, as in model.json. */
  graphs: Record<string, string>;
  written: WrittenGraph[];
  /** The files that their weights lie in. One that is still to be made has no hash. */
  files: RepoFile[];
  packedWeights?: PackedWeights;
  dtype: Dtype;
  /** Numbers in the tensors that they read. */
  parameters: number;
  reason: string;
  /** Fields of config.json that nothing reads and that the operator had ignored. */
  ignored: string[];
}

/** A file of weights that is made of those of the repository. */
export interface PackedWeights {
  recipe: Recipe;
  /** The files that it is made of. */
  sources: RepoFile[];
  /** Small files that are made of metadata. */
  made?: readonly MadeFile[] | undefined;
  /** The same graphs over those files; absent where an adapter makes them others, or they can't be read unpacked. */
  plain?: WrittenGraph[] | undefined;
}

/** Why no graph can be written. */
export interface NoGraphs {
  problem: string;
  remedy?: string | undefined;
  /** True where the repository has a checkpoint and its family has a writer. */
  tried: boolean;
}

/**
 * Writes graphs over the PyTorch weights of a repository, of which it reads the headers only.
 * @returns what is in the way, where it can't
 * @throws StoreError when the source fails
 */
export async function writeOwnGraphs(request: OwnRequest): Promise<OwnGraphs | NoGraphs> {
  const { info, head, modelType, pipeline, adapter, bits } = request;
  const name = pipeline?.name ?? modelType;
  if (!pipeline && !hasWriter(modelType, head))
    return { problem: `no graph can be written for ${name ?? 'this model'}`, tried: false };
  const found: FoundNetwork[] = [];
  try {
    const networks = request.gguf
      ? [await ggufNetwork(request.gguf, request)]
      : await readNetworks(found, request);
    const ready = networks.find(({ packed }) => packed !== undefined)?.packed;
    const isPacked = ready !== undefined;
    const { graphs, used, recipe } =
      bits || adapter || isPacked ? writeMade(networks, request) : plain(networks);
    if (adapter) requireUse(info.id, networks, used);
    if (request.gguf) requireUsed(request.gguf, used);
    const share = bits && recipe ? packedShare(recipe, used) : undefined;
    if (share === 0 && !isPacked)
      return {
        problem: `none of its matrices can be packed to ${bits} bits`,
        remedy: NOT_PACKED,
        tried: true,
      };
    const types = new Set(used.map(({ type }) => type));
    const named = new Set(used.flatMap(filesOf));
    const sources = info.files.filter(({ path }) => named.has(path));
    return {
      graphs: Object.fromEntries(Object.keys(graphs).map((role) => [role, pathOf(role)])),
      written: writtenGraphs(graphs),
      ...(recipe
        ? {
            files: [{ path: recipe.file, size: recipe.size }],
            packedWeights: {
              ...{ recipe, sources, made: request.gguf?.made },
              plain: adapter || isPacked ? undefined : writtenGraphs(plain(networks).graphs),
            },
          }
        : { files: sources }),
      dtype: ready?.bits ? (`q${ready.bits}` as const) : bits ? (`q${bits}` as const) : dtypeOf(types),
      parameters: numbersIn(used),
      ignored: [...new Set(networks.flatMap(({ ignored }) => ignored))],
      reason: `graph: written for ${name} over ${weightsText(networks, types, { bits, adapter, share })}`,
    };
  } catch (error) {
    if (error instanceof QuantizedError)
      return { problem: error.message, remedy: unquantizedRemedy(info), tried: true };
    if (error instanceof UnreadFieldsError)
      return { problem: error.message, remedy: error.remedy, tried: true };
    if (error instanceof GraphError) return { problem: error.message, tried: true };
    if (error instanceof WeightsError)
      return {
        problem: error.reason,
        remedy: error.remedy,
        tried: found.length > 0 || error.code !== 'no-weights',
      };
    throw error;
  }
}

/** @param found networks are put there when their checkpoint is found */
async function readNetworks(found: FoundNetwork[], request: OwnRequest): Promise<Network[]> {
  const { source, info, pipeline, adapter } = request;
  // An adapter's weights are no model's.
  const listed = info.files.filter(({ path }) => !(adapter && /^adapter_model\b/.test(path)));
  const places = pipeline ? await pipelineNetworks(source, info, pipeline) : modelNetworks(request);
  for (const place of places) found.push(checkpointOf(listed, place, request.dtype));
  return Promise.all(found.map((one) => readNetwork(one, request)));
}

/** The model itself, and the networks beside it. @throws GraphError where one is not there */
function modelNetworks({ info, modelType, head }: OwnRequest): NetworkPlace[] {
  const found = familyOf(modelType)?.networksBeside?.[head] ?? [];
  const beside = found.map(({ folder }) => ({ folder, config: `${folder}/config.json` }));
  const lacking = beside.find(({ config }) => !info.files.some(({ path }) => path === config));
  if (lacking) throw new GraphError(`its ${lacking.folder} is not there: ${lacking.config}`);
  return [MODEL, ...beside];
}

const NOT_PACKED = 'leave out --dtype, which serves the weights as they are';

/** Part of the numbers that graphs read which is packed here; convolutions, small matrices and vectors stay as they are. */
function packedShare({ parts }: Recipe, used: readonly StoredTensor[]): number {
  const packed = parts.filter(({ packing, tensor }) => packing && !tensor.blocks);
  return numbersIn(packed.map(({ tensor }) => tensor)) / numbersIn(used);
}

/** @throws Refusal where the graphs read less than the adapter changes: it is for another task */
function requireUse(id: string, networks: readonly Network[], used: readonly StoredTensor[]): void {
  const read = new Set(used);
  for (const { merged } of networks)
    for (const [name, tensor] of merged?.changed ?? [])
      if (!read.has(tensor))
        throw new Refusal(
          `${id} is an adapter that changes ${printable(name)}, which this task does not read`,
          'give the task that it was trained for with --task',
        );
}

/** The files that a tensor is made of. */
function filesOf({ file, merge, blocks }: StoredTensor): string[] {
  const integers = blocks && 'zeros' in blocks ? blocks : undefined;
  const scales = blocks && 'scales' in blocks ? blocks.scales : undefined;
  const parts = [merge?.down, merge?.up, scales, integers?.zeros, integers?.groupOf];
  return [file, ...parts.flatMap((part) => part?.file ?? [])];
}

interface Written {
  graphs: WrittenGraphs['graphs'];
  /** The tensors that they read. */
  used: StoredTensor[];
  recipe?: Recipe | undefined;
}

function plain(networks: readonly Network[], storage?: Storage): Written {
  const written = networks.map((network) => ({ network, ...writeNetwork(network, storage) }));
  return {
    graphs: Object.fromEntries(written.flatMap(({ graphs }) => Object.entries(graphs))),
    used: written.flatMap(({ network, used }) => used.map((name) => network.index.get(name)!)),
  };
}

/** @throws GraphError that names the folder of one of several networks, or the method that weights are quantised by */
function writeNetwork(
  { settings: config, index, head, roles, folder }: Network,
  storage?: Storage,
): WrittenGraphs {
  try {
    return writeGraphs({ config, index, head, roles, storage });
  } catch (error) {
    if (!(error instanceof GraphError)) throw error;
    const method = quantizationOf(config);
    if (method !== undefined) throw new QuantizedError(method, error.message);
    if (folder === '') throw error;
    throw new GraphError(`${folder}: ${error.message}`);
  }
}

/** The file is named after its recipe, since tasks read different parts of a network, and bases of adapters may move. */
function writeMade(
  networks: readonly Network[],
  { bits, budget, adapter }: OwnRequest,
): Written & { recipe: Recipe } {
  const write = (file: string, chosen?: Formats) => {
    const storage = packedStorage(file, bits, chosen);
    return { ...plain(networks, storage), storage, recipe: storage.recipe() };
  };
  const { storage, recipe } = write('');
  const formats = storage.formats(budget);
  const { parts } = recipe;
  const isMixed = bits !== undefined && bits < 8;
  const others = [
    ...(adapter ? [adapter.base.commit] : []),
    ...(isMixed ? [ROUNDING, [...formats.values()]] : []),
  ];
  const origin = others.length > 0 ? [parts, ...others] : parts;
  const digest = createHash('sha256').update(JSON.stringify(origin)).digest('hex').slice(0, 12);
  const file = `slipway-${[...(adapter ? ['merged'] : []), ...(bits ? [`q${bits}`] : []), digest].join('-')}.bin`;
  return write(file, formats);
}

/** Files of other roundings to four bits, with what else they decide (runtime/models/writer/packed-format.ts), have other names. */
const ROUNDING = 4;

const pathOf = (role: string): string => `graphs/${role}.onnx`;

const writtenGraphs = (graphs: WrittenGraphs['graphs']): WrittenGraph[] =>
  Object.entries(graphs).map(([role, bytes]) => writtenGraph(role, bytes));

function writtenGraph(role: string, bytes: Uint8Array): WrittenGraph {
  return {
    path: pathOf(role),
    size: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    content: Buffer.from(bytes).toString('base64'),
  };
}

/** The narrowest type that most of a checkpoint's bytes may be in. */
function dtypeOf(types: ReadonlySet<string>): Dtype {
  if (types.has('BF16')) return 'bf16';
  return types.has('F16') ? 'fp16' : 'fp32';
}
