import type { GgufProjector } from './projector.js';
import { patches, PATCH_KEYS, positionsConfig, visionFields } from './qwen-vl.js';
import type { TowerFacts } from './tower-facts.js';

/** Of all published models, where the file does not say. */
const LIMITS = { least: 256 * 256, most: 4096 * 4096 } as const;

/** Layers whose features are read beside the last ones. @throws WeightsError for a list that is none of layers */
function deepLayers(tower: TowerFacts): number[] {
  const given = tower.value('vision.is_deepstack_layers') ?? [];
  const isList = Array.isArray(given) && given.every((one) => typeof one === 'boolean');
  if (!isList || (given.length > 0 && given.length !== tower.size('vision.block_count')))
    throw tower.refuse('has no word for each layer as clip.vision.is_deepstack_layers');
  return given.flatMap((isDeep, layer) => (isDeep ? [layer] : []));
}

/** Rows of the table of positions. @throws WeightsError where they make no square */
function positionsOf(tower: TowerFacts): number {
  const [rows = 0] = tower.shapeOf('v.position_embd.weight');
  if (Number.isInteger(Math.sqrt(rows))) return rows;
  throw tower.refuse(`has a table of ${rows} positions, which make no square`);
}

/** Parts of what makes features of a deep layer. */
const DEEP = { norm: 'norm', fc1: 'linear_fc1', fc2: 'linear_fc2' } as const;

const deepNames = (layers: readonly number[]): [string, string][] =>
  layers.flatMap((layer, at) =>
    Object.entries(DEEP).map(([part, name]): [string, string] => [
      `v.deepstack.${layer}.${part}`,
      `visual.deepstack_merger_list.${at}.${name}`,
    ]),
  );

/** Positions that are learned, and features of several layers. */
export function qwen3Vl(tower: TowerFacts): GgufProjector {
  const deep = deepLayers(tower);
  return {
    ...{ ...patches(LIMITS), modelType: 'qwen3_vl', className: 'Qwen3VLForConditionalGeneration' },
    ...{ languages: ['qwen3vl'], activations: ['use_gelu'] },
    keys: [...PATCH_KEYS, 'vision.is_deepstack_layers'],
    names: {
      'v.patch_embd': 'visual.patch_embed.proj',
      'v.position_embd': 'visual.pos_embed',
      'v.post_ln': 'visual.merger.norm',
      'mm.0': 'visual.merger.linear_fc1',
      'mm.2': 'visual.merger.linear_fc2',
      ...Object.fromEntries(deepNames(deep)),
    },
    inLayer: {
      ...{ ln1: 'norm1', ln2: 'norm2', attn_qkv: 'attn.qkv', attn_out: 'attn.proj' },
      ...{ ffn_up: 'mlp.linear_fc1', ffn_down: 'mlp.linear_fc2' },
    },
    config: (_, text) =>
      positionsConfig({
        ...{ type: 'qwen3_vl', text, interleaved: true },
        vision: {
          ...{ model_type: 'qwen3_vl', ...visionFields(tower), hidden_act: 'gelu_pytorch_tanh' },
          hidden_size: tower.size('vision.embedding_length'),
          intermediate_size: tower.size('vision.feed_forward_length'),
          out_hidden_size: tower.size('vision.projection_dim'),
          num_position_embeddings: positionsOf(tower),
          deepstack_visual_indexes: deep,
        },
      }),
    processor: () => ({ processor_class: 'Qwen3VLProcessor' }),
  };
}
