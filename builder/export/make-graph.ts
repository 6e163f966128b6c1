import { createHash } from 'node:crypto';
import { mkdtemp, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { NO_TELEMETRY } from '../../runtime/boot/engine-environment.js';
import type { RepoFile, WrittenGraph } from '../../runtime/core/spec.js';
import { LARGEST_GRAPH } from '../../runtime/core/spec.js';
import { makeFolder } from '../../runtime/store/make-folder.js';
import { Refusal } from '../plan/refusal.js';
import { finishGraph, type Finished } from './finish/finish.js';
import { bytesAt } from './finish/weights.js';
import { type ExportedGraph, keepGraph, restName } from './export-record.js';
import type { GraphToExport, ToExport } from './plan-export.js';
import { checkGraph } from './check-graph.js';
import { ofOneRow } from './recipes/images.js';
import { runExport } from './run-export.js';
import type { ExportRecipe } from './types.js';

export interface MakeRequest {
  id: string;
  toExport: ToExport;
  /** Folder for what is kept: the record, and the rest of the weights. */
  folder: string;
  /** Folder of the checkpoint. */
  checkpoint: string;
  python: string;
  packageRoot: string;
  threads: number;
  signal?: AbortSignal | undefined;
  onStep(what: string): void;
  /** A folder with the rest of the weights, which lies in `folder`, beside the checkpoint. */
  besideRest(rest: RepoFile): Promise<string>;
}

/**
 * Exports a network, moves its weights back into the checkpoint's files, and compares it with torch; what is beyond the
 * tolerance is tried again without fused operators, and of images with one a run.
 * @throws Refusal where the graph can't be made, or computes otherwise than torch does
 */
export async function makeGraph(request: MakeRequest, graph: GraphToExport): Promise<ExportedGraph> {
  const { id, folder } = request;
  await makeFolder(folder);
  const problems: string[] = [];
  for (const { recipe, fusions, how } of waysOf(graph.recipe)) {
    const out = await mkdtemp(path.join(folder, '.slipway-export-'));
    try {
      const found = await attempt({ ...request, graph: { ...graph, recipe }, out, fusions });
      if (typeof found !== 'string') {
        await keepGraph(folder, graph, found);
        return found;
      }
      problems.push(`${how}: ${found}`);
    } finally {
      await rm(out, { recursive: true, force: true });
    }
  }
  throw new Refusal(
    `${id} can't be exported: ${problems.at(-1)}`,
    'take a repository with an ONNX export, or make one and give it with --from',
  );
}

interface Way {
  recipe: ExportRecipe;
  fusions: boolean;
  how: string;
}

/** Ways to export a network, the best one first. */
function waysOf(recipe: ExportRecipe): Way[] {
  const single = ofOneRow(recipe);
  return [
    { recipe, fusions: true, how: 'with fused operators' },
    { recipe, fusions: false, how: 'without fused operators' },
    ...(single ? [{ recipe: single, fusions: false, how: 'with one image a run' }] : []),
  ];
}

/** Of the largest number of an output: what a finished graph may differ by from torch. */
const TOLERANCE = 1e-4;

const BASE_MEMORY = 3 * 2 ** 30;
const FLOAT = 4;
/** Weights are in memory as they were loaded, as the graph holds them, and while both are written. */
const COPIES = 4;
const [BASE_SECONDS, LAYER_SECONDS] = [300, 10];

type Attempt = MakeRequest & { graph: GraphToExport; out: string; fusions: boolean };

/** A text says what is wrong with this way of exporting it. */
async function attempt(request: Attempt): Promise<ExportedGraph | string> {
  const { toExport, graph, folder, checkpoint, out, fusions, packageRoot, signal, onStep, besideRest } =
    request;
  const { parameters, layers, sources, index } = toExport;
  const { recipe, key } = graph;
  const of = graph.role === 'model' ? '' : `${graph.role}: `;
  onStep(`${of}traces it${fusions ? '' : ' without fused operators'}`);
  const run = await runExport({
    ...{ ...request, recipe, out, fusions, signal },
    files: sources.map(({ path }) => path),
    memoryBytes: BASE_MEMORY + COPIES * FLOAT * parameters,
    seconds: BASE_SECONDS + LAYER_SECONDS * layers,
  });
  if ('problem' in run) return run.problem;
  onStep(`${of}moves the weights back`);
  const { outputs, names } = recipe;
  const finished = await finishGraph({
    ...{ graph: path.join(out, 'model.onnx'), outputs, names, index, checkpoint },
    restFile: restName(key),
  });
  if (finished.bytes.length > LARGEST_GRAPH)
    return `its graph has ${finished.bytes.length} bytes without weights`;
  const rest = await writeRest(path.join(folder, restName(key)), out, finished);
  onStep(`${of}compares it with torch`);
  const difference = await checkGraph({
    ...{ graph: finished.bytes, packageRoot, env: NO_TELEMETRY, signal },
    weightsIn: path.resolve(rest ? await besideRest(rest) : checkpoint),
    probes: path.join(out, 'probes.safetensors'),
  });
  if (typeof difference === 'string') return difference;
  if (!(difference <= TOLERANCE))
    return `it differs from torch by ${difference.toExponential(1)} of the largest number`;
  return { written: written(graph.path, finished.bytes), rest, shares: finished.shares, difference, fusions };
}

function written(place: string, bytes: Uint8Array): WrittenGraph {
  return {
    path: place,
    size: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    content: Buffer.from(bytes).toString('base64'),
  };
}

/** Copies the weights that the checkpoint does not have. */
async function writeRest(target: string, from: string, { rest }: Finished): Promise<RepoFile | undefined> {
  if (rest.length === 0) return undefined;
  const part = `${target}.making`;
  const hash = createHash('sha256');
  let size = 0;
  const handle = await open(part, 'w');
  try {
    for (const { from: place, offset } of rest) {
      const bytes = Buffer.concat([Buffer.alloc(offset - size), await bytesAt(from, place)]);
      await handle.write(bytes);
      hash.update(bytes);
      size += bytes.length;
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(part, target);
  return { path: path.basename(target), size, sha256: hash.digest('hex') };
}
