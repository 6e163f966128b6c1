import { defineFamily } from '../family.js';
import { headWidth } from '../layers/head-sizes.js';
import { linear } from '../layers/linear.js';
import type { Value } from '../writer/graph-writer.js';
import { parallelHeads } from '../bases/decoder/parallel-decoder.js';
import { config, type Config, decoderOf } from '../bases/decoder/gptj-decoder.js';

/** Parts that CodeGen was trained in: each has queries, values and keys of its heads. */
const PARTS = 4;

/** modeling_codegen.py */
export const codegen = defineFamily({
  modelTypes: ['codegen'],
  readers: { positions: 'learned' },
  config,
  prefixes: ['transformer.'],
  heads: parallelHeads<Config>((c) =>
    decoderOf(c, (g, x, at) => {
      const width = c.n_embd;
      const local = headWidth(width, PARTS);
      const all = linear(g, x, at('attn.qkv_proj'), { from: width, to: 3 * width, bias: false });
      const parted = g.node('Reshape', [all, g.ints([0, 0, PARTS, 3 * local])]);
      const sizes = g.ints([local, local, local]);
      const parts = g.nodes('Split', [parted, sizes], { outputs: 3, attributes: { axis: -1 } });
      const [query, value, key] = parts.map((part) => g.node('Reshape', [part, g.ints([0, 0, width])])) as [
        Value,
        Value,
        Value,
      ];
      return { query, key, value };
    }),
  ),
});
