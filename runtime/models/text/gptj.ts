import { defineFamily } from '../family.js';
import { linear } from '../layers/linear.js';
import { parallelHeads } from '../bases/decoder/parallel-decoder.js';
import { config, type Config, decoderOf } from '../bases/decoder/gptj-decoder.js';

/** modeling_gptj.py */
export const gptj = defineFamily({
  modelTypes: ['gptj'],
  readers: { positions: 'learned' },
  config,
  prefixes: ['transformer.'],
  heads: parallelHeads<Config>((c) =>
    decoderOf(c, (g, x, at) => {
      const one = (letter: string) =>
        linear(g, x, at(`attn.${letter}_proj`), { from: c.n_embd, to: c.n_embd, bias: false });
      return { query: one('q'), key: one('k'), value: one('v') };
    }),
  ),
});
