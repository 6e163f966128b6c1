import type { LoadRequest } from '../../../core/load-request.js';
import type { Tensors } from '../../sessions/tensors.js';
import { type Feed, outputOf } from '../graph.js';
import { openPromptEncoder, type PromptEncoder } from '../prompts.js';
import type { Size } from '../size.js';
import { stacked } from './unet.js';

export interface PromptRequest {
  prompt: string;
  /** Undefined: none was given. */
  negative: string | undefined;
  /** Whether the negative prompt is computed, too; then its rows come first. */
  guided: boolean;
  size: Size;
  /** Tokens that T5 reads, where there is one. */
  length?: number | undefined;
  signal: AbortSignal;
}

/** Makes of prompts what the network reads. */
export type EncodePrompts = (request: PromptRequest) => Promise<Record<string, Feed>>;

export type Row = ReturnType<typeof outputOf>;

/** Stable Diffusion: the last states of one encoder. */
export async function openPrompts(request: LoadRequest): Promise<EncodePrompts> {
  const encoder = await openPromptEncoder(request, 'text_encoder');
  return async ({ prompt, negative = '', guided, signal }) => {
    const rows: Row[] = [];
    for (const text of guided ? [negative, prompt] : [prompt])
      rows.push(outputOf(await encoder.encode(text, signal), 'last_hidden_state'));
    return { encoder_hidden_states: stacked(rows) };
  };
}

interface Encoded {
  states: Row;
  pooled: Row;
}

/** SDXL: the last states but one of two encoders side by side, the second one's summary, and sizes. */
export async function openPairPrompts(request: LoadRequest, zeros: boolean): Promise<EncodePrompts> {
  const encoders = await Promise.all([
    openPromptEncoder(request, 'text_encoder'),
    openPromptEncoder(request, 'text_encoder_2'),
  ]);
  return async ({ prompt, negative, guided, size: { height, width }, signal }) => {
    const positive = await encodePair(encoders, prompt, signal);
    const rows = [positive];
    if (guided) {
      const empty = negative === undefined && zeros;
      rows.unshift(empty ? emptied(positive) : await encodePair(encoders, negative ?? '', signal));
    }
    const sizes = [height, width, 0, 0, height, width];
    return {
      encoder_hidden_states: stacked(rows.map(({ states }) => states)),
      text_embeds: stacked(rows.map(({ pooled }) => pooled)),
      time_ids: { values: rows.flatMap(() => sizes), dims: [rows.length, sizes.length] },
    };
  };
}

async function encodePair(
  encoders: readonly PromptEncoder[],
  text: string,
  signal: AbortSignal,
): Promise<Encoded> {
  const outputs: Tensors[] = [];
  for (const encoder of encoders) outputs.push(await encoder.encode(text, signal));
  return {
    states: sideBySide(outputs.map(penultimate)),
    pooled: outputOf(outputs.at(-1)!, 'text_embeds'),
  };
}

const emptied = ({ states, pooled }: Encoded): Encoded => ({
  states: { ...states, values: new Float32Array(states.values.length) },
  pooled: { ...pooled, values: new Float32Array(pooled.values.length) },
});

/** `hidden_states[-2]`: exporters number the states, from the embeddings on. */
export function penultimate(outputs: Tensors): Row {
  const names = Object.keys(outputs).filter((name) => /^hidden_states\.\d+$/.test(name));
  const sorted = names.toSorted((a, b) => Number(a.split('.')[1]) - Number(b.split('.')[1]));
  return outputOf(outputs, sorted.at(-2) ?? 'penultimate_hidden_state');
}

/** Tensors of as many tokens, joined along the last dimension. */
export function sideBySide(parts: readonly Row[]): Row {
  const widths = parts.map(({ dims }) => dims.at(-1)!);
  const width = widths.reduce((a, b) => a + b, 0);
  const tokens = parts[0]!.values.length / widths[0]!;
  const values = new Float32Array(tokens * width);
  for (let token = 0; token < tokens; token++) {
    let at = token * width;
    for (const [i, part] of parts.entries()) {
      values.set(part.values.subarray(token * widths[i]!, (token + 1) * widths[i]!), at);
      at += widths[i]!;
    }
  }
  return { values, dims: [1, tokens, width] };
}
