import { defineArchitecture } from '../../architecture.js';
import { layerNorm } from '../../blocks/norm.js';
import { patches, pictureInput, withTokens } from '../../blocks/pictures.js';
import { preNormLayer, type PreNormNames } from '../../blocks/pre-norm-layer.js';
import { firstToken } from '../../blocks/text-heads.js';
import { GraphError } from '../../errors.js';
import type { GraphWriter, Value } from '../../graph-writer.js';
import { countOf, shapeOf, type TimmConfig, timmConfig, timmHeads } from './config.js';

const NAMES: PreNormNames = {
  ...{ attentionNorm: 'norm1', query: 'attn.qkv', output: 'attn.proj' },
  ...{ norm: 'norm2', wide: 'mlp.fc1', narrow: 'mlp.fc2' },
};

/** Of attention, which no tensor tells. */
const HEADS: Readonly<Record<string, number>> = { tiny: 3, small: 6, base: 12, large: 16 };

/** What an architecture's name says beside its sizes. */
function kindOf({ architecture }: TimmConfig) {
  const isClip = architecture.includes('_clip_');
  const heads = HEADS[architecture.split('_')[1]!];
  if (heads === undefined) throw new GraphError(`config.json: the sizes of ${architecture} are not known`);
  const act = architecture.includes('_quickgelu') ? 'quick_gelu' : 'gelu';
  return { heads, isClip, act, epsilon: isClip ? 1e-5 : 1e-6 };
}

/** Patches behind learnt tokens, which have no positions where there are registers. */
function embedded(g: GraphWriter, { isClip }: { isClip: boolean }): { x: Value; width: number } {
  const [width, channels, patch] = shapeOf(g, 'patch_embed.proj.weight', 4);
  const [, places] = shapeOf(g, 'pos_embed', 3);
  const registers = g.weights.has('reg_token') ? shapeOf(g, 'reg_token', 3)[1] : 0;
  const edge = Math.sqrt(registers > 0 ? places : places - 1) * patch;
  if (!Number.isInteger(edge)) throw new GraphError(`pos_embed has ${places} places, which are no square`);
  const pixels = pictureInput(g, channels, [edge, edge]);
  const size = { channels, width, patch: [patch, patch] as const, bias: !isClip };
  const { tokens } = patches(g, pixels, 'patch_embed.proj', size);
  const [first, table] = [g.weight('cls_token', [1, 1, width]), g.weight('pos_embed', [1, places, width])];
  if (registers === 0) return { x: g.node('Add', [withTokens(g, tokens, [first]), table]), width };
  const learnt = [first, g.weight('reg_token', [1, registers, width])];
  return { x: withTokens(g, g.node('Add', [tokens, table]), learnt), width };
}

function states(g: GraphWriter, c: TimmConfig): Value {
  const kind = kindOf(c);
  const { x: first, width } = embedded(g, kind);
  const normOf = (x: Value, name: string) => layerNorm(g, x, name, { width, epsilon: kind.epsilon });
  let x = kind.isClip ? normOf(first, 'norm_pre') : first;
  const count = countOf(g, (place) => `blocks.${place}.norm1.weight`);
  for (let i = 0; i < count; i++) {
    const at = (part: string) => `blocks.${i}.${part}`;
    const [inner] = shapeOf(g, at('mlp.fc1.weight'), 2);
    const scales = g.weights.has(at('ls1.gamma')) ? (['ls1.gamma', 'ls2.gamma'] as const) : undefined;
    x = preNormLayer(g, x, { ...kind, width, inner, names: NAMES, at, scales });
  }
  return normOf(x, 'norm');
}

/** timm's vision_transformer.py, as far as the first token is pooled: ViT, DeiT, DINO and towers of CLIP. */
export const timmVit = defineArchitecture({
  modelTypes: ['timm_vit'],
  config: timmConfig,
  prefixes: ['timm_model.'],
  heads: timmHeads({
    states,
    shape: ['rows', 'tokens', 'width'],
    pool: firstToken,
    head: 'head',
  }),
});
