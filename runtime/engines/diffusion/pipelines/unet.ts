import type { LoadRequest } from '../../../core/load-request.js';
import { type Feed, type Graph, openGraph, outputOf } from '../graph.js';
import type { Size } from '../size.js';
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
];

export async function openUnet(request: LoadRequest): Promise<Unet> {
  const graph = await openGraph(request, 'unet', FEEDS);
  const size = graph.config['time_cond_proj_dim'];
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
      const { values: output } = outputOf(await graph.run(feeds, signal), 'out_sample');
      return guidance ? guided(output, guidance) : output;
    },
  };
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

/** The smallest pictures that all such networks make: halved three times, and in latents. */
const SMALL = 64;

/** A size for a quick request, where the graph leaves sizes open. */
export function smallSize({ inputs }: Unet, usual: Size): Partial<Size> {
  const shape = inputs.find(({ name }) => name === 'sample')?.shape ?? [];
  const open = shape.slice(2).every((size) => typeof size === 'string' || size < 0);
  return open && usual.height > SMALL && usual.width > SMALL ? { height: SMALL, width: SMALL } : {};
}
