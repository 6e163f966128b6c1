import * as z from 'zod';
import { defineFamily } from '../family.js';
import { embedding } from '../layers/linear.js';
import { skipLayerNorm } from '../layers/norm.js';
import { bucketBias, relativeBuckets } from '../layers/t5-relative-bias.js';
import { distances, positionsBehindPadding, textInputs } from '../layers/text-inputs.js';
import { textHeads, type TextModel } from '../bases/encoder/encoder-heads.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { bertLayer, type LayerNames } from '../bases/encoder/bert-layer.js';
import { bertConfig, bertSizes } from '../bases/encoder/bert-config.js';
import { robertaHeads } from './roberta.js';

const config = z.object({
  ...bertConfig,
  pad_token_id: z.int().min(0).default(1),
  relative_attention_num_buckets: z.literal(32).default(32),
});
type Config = z.output<typeof config>;

const NAMES: LayerNames = {
  query: 'attention.attn.q',
  key: 'attention.attn.k',
  value: 'attention.attn.v',
  output: 'attention.attn.o',
  attentionNorm: 'attention.LayerNorm',
  wide: 'intermediate.dense',
  narrow: 'output.dense',
  norm: 'output.LayerNorm',
};

function statesOf(g: GraphWriter, c: Config): Value {
  const { ids, padding } = textInputs(g);
  const at = (name: string) => `mpnet.embeddings.${name}`;
  const { width, epsilon, heads } = bertSizes(c);
  const tokens = embedding(g, ids, at('word_embeddings'), { rows: c.vocab_size, width });
  const positions = embedding(g, positionsBehindPadding(g, ids, c.pad_token_id), at('position_embeddings'), {
    ...{ rows: c.max_position_embeddings, width },
  });
  const count = c.relative_attention_num_buckets;
  const buckets = relativeBuckets(g, distances(g, ids), { count, farthest: 128, bothWays: true });
  const bias = bucketBias(
    g,
    buckets,
    g.weight('mpnet.encoder.relative_attention_bias.weight', [count, heads]),
  );
  let x = skipLayerNorm(g, [tokens, positions], at('LayerNorm'), { width, epsilon });
  for (let i = 0; i < c.num_hidden_layers; i++) {
    const name = (part: string) => `mpnet.encoder.layer.${i}.${part}`;
    x = bertLayer(g, x, { ...bertSizes(c), names: NAMES, at: name, padding, bias });
  }
  return x;
}

const modelOf = (c: Config): TextModel => ({
  ...bertSizes(c),
  states: (g) => statesOf(g, c),
  ...robertaHeads(c, 'mpnet.'),
});

/** All layers share one table of distances. modeling_mpnet.py */
export const mpnet = defineFamily({
  modelTypes: ['mpnet'],
  readers: { positions: 'after-two' },
  config,
  prefixes: ['mpnet.'],
  heads: textHeads(modelOf),
});
