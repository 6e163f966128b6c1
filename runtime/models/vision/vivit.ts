import * as z from 'zod';
import { type Family, defineFamily } from '../family.js';
import { layerNorm } from '../layers/norm.js';
import { labelScores } from '../bases/vision/image-heads.js';
import { withTokens } from '../layers/patch-embed.js';
import { firstToken } from '../bases/encoder/encoder-heads.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { epsilon } from '../config-fields.js';
import { vitConfig, vitSizes } from '../bases/vision/vit-config.js';
import { tubelets } from '../bases/vision/tubelet-embed.js';
import { vitLayers } from './vit.js';

const few = z.int().min(1).max(1024);

const config = z.object({
  ...vitConfig,
  hidden_act: z.string().default('gelu_fast'),
  layer_norm_eps: epsilon.default(1e-6),
  num_frames: few.default(32),
  tubelet_size: z.tuple([few, few, few]).default([2, 16, 16]),
});
type Config = z.output<typeof config>;

/** Patches of a few frames each behind a learned token, with a position for each of all. */
function embedded(g: GraphWriter, c: Config): Value {
  const at = (name: string) => `vivit.embeddings.${name}`;
  const { hidden_size: width, tubelet_size: tubelet } = c;
  const { tokens, count } = tubelets(g, at('patch_embeddings.projection'), { ...c, width, tubelet });
  const all = withTokens(g, tokens, [g.weight(at('cls_token'), [1, 1, width])]);
  return g.node('Add', [all, g.weight(at('position_embeddings'), [1, count + 1, width])]);
}

const heads: Family<Config>['heads'] = {
  'video-classification': {
    model(g, c) {
      const sizes = vitSizes(c);
      const x = vitLayers(g, embedded(g, c), c, 'vivit.');
      const first = firstToken(g, layerNorm(g, x, 'vivit.layernorm', sizes));
      g.output('logits', labelScores(g, first, sizes), 'float32', ['rows', sizes.labels]);
    },
  },
};

/** modeling_vivit.py */
export const vivit = defineFamily({
  ...{ modelTypes: ['vivit'], usualTask: 'video-classification', config, prefixes: ['vivit.'], heads },
});
