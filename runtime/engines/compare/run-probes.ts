import ort from 'onnxruntime-node';
import type { InferenceSession } from 'onnxruntime-node';
import { openSession } from '../sessions/session.js';
import type { Tensors } from '../sessions/tensors.js';
import { type Difference, differenceOf, type Probe, worstOf } from './difference.js';

export interface ProbedGraph {
  bytes: Uint8Array;
  /** Folder of its weights. */
  weightsIn: string;
}

/** How far a graph is from what torch gave, over all probes; a text says what is in the way. */
export async function runProbes(graph: ProbedGraph, probes: readonly Probe[]): Promise<Difference> {
  let session: InferenceSession;
  try {
    session = await openSession(graph, { device: 'cpu', threads: 1 });
  } catch (error) {
    return `it can't be opened: ${firstLine(error)}`;
  }
  try {
    const differences: Difference[] = [];
    for (const probe of probes) differences.push(...(await differencesOf(session, probe)));
    return differences.length > 0 ? worstOf(differences) : 'it gives none of the outputs that are compared';
  } finally {
    await session.release();
  }
}

async function differencesOf(session: InferenceSession, probe: Probe): Promise<Difference[]> {
  const missing = session.inputNames.find((name) => !(name in probe.inputs));
  if (missing !== undefined) return [`it reads ${missing}, which no probe has`];
  const feeds = session.inputNames.map((name) => {
    const { type, data, dims } = probe.inputs[name]!;
    return [name, new ort.Tensor(type as 'float32', data as Float32Array, [...dims])] as const;
  });
  try {
    const given = (await session.run(Object.fromEntries(feeds))) as unknown as Tensors;
    return Object.keys(probe.outputs).map((name) => differenceOf(probe, name, given));
  } catch (error) {
    return [`it fails: ${firstLine(error)}`];
  }
}

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0]!.slice(0, 300);
