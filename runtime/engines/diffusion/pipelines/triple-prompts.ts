import type { LoadRequest } from '../../../core/load-request.js';
import { firstNumber, type Json } from '../../repository/model-folder.js';
import { outputOf } from '../graph.js';
import { openPromptEncoder, openTokenEncoder, type PromptEncoder, type TokenEncoder } from '../prompts.js';
import { type EncodePrompts, penultimate, type Row, sideBySide } from './text-conditions.js';
import { stacked } from './unet.js';

/** Tokens that T5 reads of a prompt, filled up (`max_sequence_length`). */
const LENGTH = 256;
/** Empty places where there is no T5, as many as CLIP reads. */
const WITHOUT = 77;
/** Default of SD3Transformer2DModel. */
const WIDTH = 4096;

interface Encoded {
  states: Row;
  pooled: Row;
}

/**
 * Stable Diffusion 3: the last states but one of two encoders side by side, filled up with zeros, and those of T5 behind them;
 * the summaries of both.
 */
export async function openTriplePrompts(request: LoadRequest, network: Json): Promise<EncodePrompts> {
  const [first, second, third] = await Promise.all([
    openPromptEncoder(request, 'text_encoder'),
    openPromptEncoder(request, 'text_encoder_2'),
    'text_encoder_3' in request.spec.graphs
      ? openTokenEncoder(request, 'text_encoder_3', LENGTH)
      : emptyStates(firstNumber(network, 'joint_attention_dim') ?? WIDTH),
  ]);
  return async ({ prompt, negative = '', guided, length, signal }) => {
    const rows: Encoded[] = [];
    for (const text of guided ? [negative, prompt] : [prompt])
      rows.push(await encode([first, second, third], { text, length, signal }));
    return {
      encoder_hidden_states: stacked(rows.map(({ states }) => states)),
      pooled_projections: stacked(rows.map(({ pooled }) => pooled)),
    };
  };
}

/** Zeros in place of what T5 gives. */
function emptyStates(width: number): TokenEncoder {
  const tensor = { type: 'float32', data: new Float32Array(WITHOUT * width), dims: [1, WITHOUT, width] };
  return { encode: async () => ({ last_hidden_state: tensor }) };
}

async function encode(
  [first, second, third]: readonly [PromptEncoder, PromptEncoder, TokenEncoder],
  { text, length, signal }: { text: string; length: number | undefined; signal: AbortSignal },
): Promise<Encoded> {
  const both = [await first.encode(text, signal), await second.encode(text, signal)];
  const others = outputOf(await third.encode(text, signal, length), 'last_hidden_state');
  const pooled = sideBySide(
    both
      .map((outputs) => outputOf(outputs, 'text_embeds'))
      .map(({ values }) => ({ values, dims: [1, values.length] })),
  );
  return {
    states: oneBehindOther(filledUp(sideBySide(both.map(penultimate)), others.dims.at(-1)!), others),
    pooled: { ...pooled, dims: [1, pooled.values.length] },
  };
}

/** Wider tokens, with zeros behind; narrower ones are cut, as torch's pad does. */
function filledUp({ values, dims }: Row, width: number): Row {
  const [, tokens = 0, from = 0] = dims;
  const found = new Float32Array(tokens * width);
  for (let token = 0; token < tokens; token++)
    found.set(values.subarray(token * from, token * from + Math.min(from, width)), token * width);
  return { values: found, dims: [1, tokens, width] };
}

/** The tokens of both, which are as wide. */
function oneBehindOther(a: Row, b: Row): Row {
  const values = new Float32Array(a.values.length + b.values.length);
  values.set(a.values);
  values.set(b.values, a.values.length);
  return { values, dims: [1, a.dims[1]! + b.dims[1]!, a.dims[2]!] };
}
