import type { ModelSpec, RepoFile } from '../../runtime/core/spec.js';
import { type ExportedGraph, keptGraph } from './export-record.js';
import type { Shares } from './finish/finish.js';
import { makeGraph, type MakeRequest } from './make-graph.js';
import type { ToExport } from './plan-export.js';

export type { MakeRequest } from './make-graph.js';

/** What an export gave: all graphs of a model. */
export type Exported = readonly ExportedGraph[];

/** Exports the graphs of a model one after the other; those that were exported earlier are taken. @throws Refusal as makeGraph does */
export async function makeExport(request: MakeRequest): Promise<Exported> {
  const { toExport, folder } = request;
  const made: ExportedGraph[] = [];
  for (const graph of toExport.graphs)
    made.push((await keptGraph(folder, graph)) ?? (await makeGraph(request, graph)));
  return made;
}

/** An earlier export of the same model; undefined where a graph of it is missing. */
export async function keptExport(folder: string, { graphs }: ToExport): Promise<Exported | undefined> {
  const kept = await Promise.all(graphs.map((graph) => keptGraph(folder, graph)));
  return kept.every((one) => one !== undefined) ? kept : undefined;
}

/** Files of weights that the checkpoint does not have. */
export const restsOf = (exported: Exported): RepoFile[] => exported.flatMap(({ rest }) => rest ?? []);

/** The spec with the graphs, as model.json has it. */
export function withExport(spec: ModelSpec, exported: Exported): ModelSpec {
  const files = [...spec.files, ...restsOf(exported)].sort((a, b) => (a.path < b.path ? -1 : 1));
  return { ...spec, files, written: exported.map(({ written }) => written) };
}

/** Of all graphs together: where their weights are, and the largest difference from torch. */
export function summaryOf(exported: Exported): Omit<ExportedGraph, 'written' | 'rest'> {
  const sum = (of: keyof Shares) => exported.reduce((total, { shares }) => total + shares[of], 0);
  return {
    shares: { inPlace: sum('inPlace'), transposed: sum('transposed'), copied: sum('copied') },
    difference: Math.max(...exported.map(({ difference }) => difference)),
    fusions: exported.every(({ fusions }) => fusions),
  };
}
