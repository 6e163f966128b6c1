import { text } from 'node:stream/consumers';
import { readProbes } from './read-probes.js';
import { runProbes } from './run-probes.js';

/**
 * A process of its own, so that an open network leaves no memory behind: reads from standard input which graph to run on which
 * probes and prints as JSON how far it is from torch, or what is in the way.
 */
interface Job {
  /** In base64. */
  graph: string;
  weightsIn: string;
  probes: string;
}

const { graph, weightsIn, probes } = JSON.parse(await text(process.stdin)) as Job;
const difference = await runProbes(
  { bytes: Buffer.from(graph, 'base64'), weightsIn },
  await readProbes(probes),
);
process.stdout.write(JSON.stringify({ difference }));
