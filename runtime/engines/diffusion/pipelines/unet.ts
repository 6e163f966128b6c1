import type { LoadRequest } from '../../../core/load-request.js';
import { watchMemory } from '../../batching/watch-memory.js';
import { type Feed, type Graph, openGraph, outputOf } from '../graph.js';
import { type RunStep, shareSteps, type StepInputs } from '../shared-runs.js';
import { sampleSize, type Size } from '../size.js';
import { type Guidance, guided, guidanceEmbedding } from '../guidance.js';

/** A network that finds the noise in a sample. */
export interface Unet {
  readonly config: Graph['config'];
  readonly inputs: Graph['inputs'];
  /** Whether the network was trained to be guided by a number in place of a second run. */
  readonly guidedByNumber: number | undefined;
  predict(request: Prediction): Promise<Float32Array>;
}

export interface Prediction {
  sample: Float32Array;
  timestep: number;
  /** 1, channels, and the sizes of the sample. */
  dims: readonly number[];
  /** What the network reads beside the sample: rows for the negative prompt first, where `guidance` is given. */
  conditions: Readonly<Record<string, Feed>>;
  /** The network computes both prompts, and what it gives for them is weighed. */
  guidance?: Guidance | undefined;
  signal: AbortSignal;
}

const FEEDS = [
  ...['sample', 'timestep', 'encoder_hidden_states', 'timestep_cond', 'text_embeds', 'time_ids'],
  ...['pooled_projections', 'guidance'],
];

export async function openUnet(request: LoadRequest, role: 'unet' | 'transformer' = 'unet'): Promise<Unet> {
  const graph = await openGraph(request, role, FEEDS);
  const size = graph.config['time_cond_proj_dim'];
  let steps: Promise<RunStep> | undefined;
  return {
    config: graph.config,
    inputs: graph.inputs,
    guidedByNumber: typeof size === 'number' ? size : undefined,
    async predict({ sample, timestep, dims, conditions, guidance, signal }) {
      const rows = guidance ? 2 : 1;
      const values = guidance ? twice(sample) : sample;
      const feeds = {
        ...conditions,
        sample: { values, dims: [rows, ...dims.slice(1)] },
        timestep: { values: [timestep], dims: [1] },
      };
      // The first inputs of a request, which is that of the load, are tried with.
      const run = await (steps ??= openSteps(request, graph, feeds));
      const found = await run(inputsOf(graph, feeds), signal);
      signal.throwIfAborted();
      const { values: output } = outputOf(found, 'out_sample');
      return guidance ? guided(output, guidance) : output;
    },
  };
}

type StepFeeds = Record<string, Feed> & { sample: Feed; timestep: Feed };

/** Finds what steps of several requests may share. */
function openSteps({ memory }: LoadRequest, graph: Graph, feeds: StepFeeds): Promise<RunStep> {
  const watch = watchMemory(memory, 1);
  const [rank] = graph.inputs.filter(({ name }) => name === 'timestep').map(({ shape }) => shape);
  const usual = usualSample(graph, feeds);
  return shareSteps({
    sessions: graph.sessions,
    sample: () => inputsOf(graph, feeds),
    usual: usual && (() => inputsOf(graph, { ...feeds, sample: usual })),
    takesTimesteps: typeof rank?.[0] === 'string',
    mayDouble: watch.mayDouble,
  });
}

/** A sample of the size that the network was trained for, where the given one is smaller. */
function usualSample({ config }: Graph, { sample }: StepFeeds): Feed | undefined {
  const size = sampleSize(config);
  const dims = size && [...sample.dims.slice(0, -2), size.height, size.width];
  const length = dims?.reduce((product, each) => product * each, 1) ?? 0;
  if (!dims || length <= sample.values.length) return undefined;
  return { values: Float32Array.from({ length }, (_, i) => sample.values[i % sample.values.length]!), dims };
}

/** With the sample first: its rows are counted. */
function inputsOf(graph: Graph, feeds: StepFeeds): StepInputs {
  const { sample, timestep, ...others } = graph.tensors(feeds);
  return { sample: sample!, timestep: timestep!, ...others };
}

function twice(values: Float32Array): Float32Array {
  const both = new Float32Array(2 * values.length);
  both.set(values);
  both.set(values, values.length);
  return both;
}

/** Rows one above the other. */
export function stacked(rows: readonly { values: Float32Array; dims: readonly number[] }[]): Feed {
  const [{ values: first, dims }] = rows as [(typeof rows)[number]];
  const values = new Float32Array(first.length * rows.length);
  for (const [i, row] of rows.entries()) values.set(row.values, i * first.length);
  return { values, dims: [rows.length, ...dims.slice(1)] };
}

/** How a request is guided, by what the network was trained for. */
export function guidanceOf(
  { guidedByNumber }: Unet,
  { scale, rescale }: Guidance,
): { guidance?: Guidance; conditions: Record<string, Feed> } {
  if (guidedByNumber !== undefined) {
    const values = guidanceEmbedding(scale, guidedByNumber);
    return { conditions: { timestep_cond: { values, dims: [1, guidedByNumber] } } };
  }
  return scale > 1 ? { guidance: { scale, rescale }, conditions: {} } : { conditions: {} };
}

/** The smallest images that all such networks make: halved three times, and in latents. */
const SMALL = 64;

/** A size for a quick request, where the graph leaves sizes open. */
export function smallSize({ inputs }: Unet, usual: Size): Partial<Size> {
  const shape = inputs.find(({ name }) => name === 'sample')?.shape ?? [];
  const open = shape.slice(2).every((size) => typeof size === 'string' || size < 0);
  return open && usual.height > SMALL && usual.width > SMALL ? { height: SMALL, width: SMALL } : {};
}
