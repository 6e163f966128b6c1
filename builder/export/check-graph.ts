import { askProcess } from '../own-process.js';

/** From torch, in parts of the largest number of an output; a text says what can't be compared. */
export type Difference = number | string;

export interface CheckRequest {
  graph: Uint8Array;
  weightsIn: string;
  /** File with inputs and torch's outputs. */
  probes: string;
  packageRoot: string;
  env: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
}

/** Runs a graph in a process of its own. @throws BuilderError with what the process said when it fails */
export async function checkGraph(request: CheckRequest): Promise<Difference> {
  const { graph, weightsIn, probes, ...place } = request;
  const program = { ...place, script: 'check-export.js', subject: 'the exported graph' };
  const job = { graph: Buffer.from(graph).toString('base64'), weightsIn, probes };
  return ((await askProcess(program, job)) as { difference: Difference }).difference;
}
