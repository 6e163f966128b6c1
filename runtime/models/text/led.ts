import * as z from 'zod';
import { defineFamily } from '../family.js';
import { attention } from '../layers/attention.js';
import { linear } from '../layers/linear.js';
import { windowMask } from '../layers/window-mask.js';
import { seq2seqHeads } from '../bases/encoder-decoder/encoder-decoder-heads.js';
import { size } from '../config-fields.js';
import { bartModel, type EncoderLayer } from '../bases/encoder-decoder/bart-decoder.js';
import { bartConfig, bartSizes } from '../bases/encoder-decoder/bart-config.js';
import { learned } from '../bases/encoder-decoder/positions.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';

const window = z
  .int()
  .min(2)
  .max(2 ** 20)
  .refine((width) => width % 2 === 0, 'must be even');

const { max_position_embeddings: _, scale_embedding: __, ...shared } = bartConfig;

const config = z
  .object({
    ...shared,
    max_encoder_position_embeddings: size.default(16_384),
    max_decoder_position_embeddings: size.default(1024),
    attention_window: z.union([window, z.array(window).max(1024)]).default(512),
  })
  .refine((c) => typeof c.attention_window === 'number' || c.attention_window.length === c.encoder_layers, {
    message: 'is not as long as there are layers',
    path: ['attention_window'],
  });
type Config = z.output<typeof config>;

/** Tokens see their neighbours. */
function attend(g: GraphWriter, read: Value, { layer, name, inputs }: EncoderLayer, c: Config): Value {
  const width = c.d_model;
  const one = (part: string) =>
    linear(g, read, `${name}.self_attn.longformer_self_attn.${part}`, { from: width, to: width });
  const whole = typeof c.attention_window === 'number' ? c.attention_window : c.attention_window[layer]!;
  const found = attention(
    g,
    { query: one('query'), key: one('key'), value: one('value') },
    {
      ...{ heads: c.encoder_attention_heads, width, padding: inputs.padding },
      bias: windowMask(g, read, whole / 2),
    },
  );
  return linear(g, found, `${name}.self_attn.output`, { from: width, to: width });
}

/** BART whose encoder attends within windows. modeling_led.py */
export const led = defineFamily({
  modelTypes: ['led'],
  readers: { positions: 'learned', decoderInput: 'shifted' },
  usualTask: 'text2text-generation',
  limits: [
    'No token of a source sees all others: Python’s generate() has no such tokens either, unless a call names them.',
    'Memory grows with the square of a text: scores of all pairs are computed, and those beyond the windows are masked.',
  ],
  config,
  prefixes: ['led.', 'model.'],
  parts: { 'model.': ['led.'] },
  heads: seq2seqHeads<Config>((c) =>
    bartModel({
      ...bartSizes({
        ...c,
        max_position_embeddings: c.max_decoder_position_embeddings,
        scale_embedding: false,
      }),
      ...{ normsBefore: false, embeddingNorm: true },
      positions: learned({
        rows: { encoder: c.max_encoder_position_embeddings, decoder: c.max_decoder_position_embeddings },
        ...{ width: c.d_model, offset: 0 },
      }),
      attendEncoder: (graph, read, of) => attend(graph, read, of, c),
    }),
  ),
});
