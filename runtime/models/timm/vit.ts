import { defineFamily } from '../family.js';
import { layerNorm } from '../layers/norm.js';
import { tokensFrom } from '../layers/patch-embed.js';
import { preNormLayer } from '../layers/pre-norm-layer.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { attentionPool } from './attention-pool.js';
import { countOf, shapeOf, type TimmConfig, timmConfig, timmHeads } from './config.js';
import { LAYER_NAMES } from './layer-names.js';
import { embedded, learnedCount, pooledTokens } from './learned-tokens.js';
import { vitKind } from './vit-kinds.js';

function states(g: GraphWriter, c: TimmConfig): Value {
  const kind = vitKind(c.architecture);
  const { x: first, width } = embedded(g, c);
  const normOf = (x: Value, name: string) =>
    g.weights.has(`${name}.weight`) ? layerNorm(g, x, name, { width, epsilon: kind.epsilon }) : x;
  let x = normOf(first, 'norm_pre');
  const count = countOf(g, (place) => `blocks.${place}.norm1.weight`);
  for (let i = 0; i < count; i++) {
    const at = (part: string) => `blocks.${i}.${part}`;
    const [inner] = shapeOf(g, at('mlp.fc1.weight'), 2);
    const scales = g.weights.has(at('ls1.gamma')) ? (['ls1.gamma', 'ls2.gamma'] as const) : undefined;
    const biases = { query: 'if present' } as const;
    x = preNormLayer(g, x, { ...kind, width, inner, names: LAYER_NAMES, at, scales, biases });
  }
  return normOf(x, 'norm');
}

function pool(g: GraphWriter, x: Value, c: TimmConfig): Value {
  const kind = vitKind(c.architecture);
  if (g.weights.has('attn_pool.latent')) return attentionPool(g, tokensFrom(g, x, learnedCount(g)), kind);
  return pooledTokens(g, x, { ...kind, isMean: kind.isMean || g.weights.has('fc_norm.weight') });
}

function poolName(g: GraphWriter, { architecture }: TimmConfig): string {
  if (g.weights.has('attn_pool.latent')) return 'map';
  return vitKind(architecture).isMean || g.weights.has('fc_norm.weight') ? 'avg' : 'token';
}

/** timm's vision_transformer.py and deit.py: ViT, DeiT, DINO v2, towers of CLIP and SigLIP. */
export const timmVit = defineFamily({
  modelTypes: ['timm_vit'],
  usualTask: 'image-classification',
  config: timmConfig,
  prefixes: ['timm_model.'],
  heads: timmHeads({ states, shape: ['rows', 'tokens', 'width'], pool, poolName, head: 'head' }),
});
