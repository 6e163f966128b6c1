import { readFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import type { RepoFile, WrittenGraph } from '../../runtime/core/spec.js';
import { LARGEST_GRAPH } from '../../runtime/core/spec.js';
import { replaceFile } from '../../runtime/store/replace-file.js';
import type { Shares } from './finish/finish.js';
import type { GraphToExport } from './plan-export.js';

/** A graph that was exported. */
export interface ExportedGraph {
  written: WrittenGraph;
  /** Weights that the checkpoint does not have; undefined where there are none, or few enough for the graph. */
  rest?: RepoFile | undefined;
  shares: Shares;
  /** From torch, of the largest number. */
  difference: number;
  fusions: boolean;
}

/** File of weights that the checkpoint does not have. */
export const restName = (key: string): string => `slipway-exported-${key}.bin`;
const recordName = (key: string): string => `slipway-exported-${key}.json`;

const record = z.object({
  written: z.object({
    path: z.string(),
    size: z.int().min(1).max(LARGEST_GRAPH),
    sha256: z.string(),
    content: z.base64(),
  }),
  rest: z.object({ path: z.string(), size: z.int().min(1), sha256: z.string() }).optional(),
  shares: z.object({ inPlace: z.number(), transposed: z.number(), copied: z.number() }),
  difference: z.number(),
  fusions: z.boolean(),
});

/** An earlier export of the same graph; undefined where there is none. */
export async function keptGraph(
  folder: string,
  { key, path: place }: GraphToExport,
): Promise<ExportedGraph | undefined> {
  const text = await readFile(path.join(folder, recordName(key)), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const kept = record.parse(JSON.parse(text));
    return kept.written.path === place ? kept : undefined;
  } catch {
    // Of another version, or cut off: it is made again.
    return undefined;
  }
}

export async function keepGraph(
  folder: string,
  { key }: GraphToExport,
  exported: ExportedGraph,
): Promise<void> {
  await replaceFile(path.join(folder, recordName(key)), `${JSON.stringify(exported)}\n`);
}
