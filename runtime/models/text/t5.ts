import * as z from 'zod';
import { defineFamily } from '../family.js';
import { seq2seqHeads } from '../bases/encoder-decoder/encoder-decoder-heads.js';
import { t5Config, t5Model, t5States, type T5Config } from '../bases/encoder-decoder/t5-model.js';
import { textInputs } from '../layers/text-inputs.js';
import type { GraphWriter } from '../writer/graph-writer.js';

/** What pipelines of diffusers read of prompts. */
function writePrompts(g: GraphWriter, c: T5Config): void {
  const states = t5States(g, textInputs(g), c);
  g.output('last_hidden_state', states, 'float32', ['rows', 'tokens', c.d_model]);
}

/** Relative positions, no scale of scores, no biases. */
const t5Of = (modelType: string, config: typeof t5Config) =>
  defineFamily({
    modelTypes: [modelType],
    readers: { positions: 'distance' },
    usualTask: 'text2text-generation',
    config,
    prefixes: [],
    heads: {
      ...seq2seqHeads((c: T5Config) => t5Model(c)),
      'text-to-image': { text_encoder_2: writePrompts, text_encoder_3: writePrompts },
    },
  });

const gated = { feed_forward_proj: z.string().default('gated-gelu') };

/** modeling_t5.py */
export const t5 = t5Of('t5', t5Config);

/** modeling_mt5.py */
export const mt5 = t5Of(
  'mt5',
  t5Config.extend({ ...gated, tie_word_embeddings: z.boolean().default(false) }),
);

/** modeling_umt5.py */
export const umt5 = t5Of('umt5', t5Config.extend(gated));
