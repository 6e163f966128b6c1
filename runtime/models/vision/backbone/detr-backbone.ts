import * as z from 'zod';
import { GraphError } from '../../writer/errors.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { backbone, backboneFeatures, type Features } from './index.js';
import { type ResidualNames, type ResidualSize, residualStages } from '../../bases/vision/resnet-stages.js';

const BASE = 'model.backbone.conv_encoder.model.';

/** Fields of a configuration that say which network finds the features. */
export const backboneConfig = {
  use_timm_backbone: z.boolean().default(true),
  backbone: z.string().nullish(),
  backbone_config: backbone.nullish(),
  backbone_kwargs: z
    .object({ out_indices: z.array(z.int()).nonempty().optional(), in_chans: z.int().optional() })
    .strict()
    .nullish(),
  dilation: z.literal(false, 'dilated backbones are not known').nullish(),
};
export type DetrBackbone = z.output<z.ZodObject<typeof backboneConfig>>;

/** Layers of timm's networks. */
const DEPTHS: Readonly<Record<string, readonly number[]>> = {
  resnet18: [2, 2, 2, 2],
  resnet34: [3, 4, 6, 3],
  resnet50: [3, 4, 6, 3],
  resnet101: [3, 4, 23, 3],
  resnet152: [3, 8, 36, 3],
};
const BASIC = new Set(['resnet18', 'resnet34']);

const TIMM: ResidualNames = {
  stem: { convolution: `${BASE}conv1`, norm: `${BASE}bn1` },
  part: ({ stage, layer, part }) => {
    const at = `${BASE}layer${stage + 1}.${layer}`;
    return { convolution: `${at}.conv${part + 1}`, norm: `${at}.bn${part + 1}` };
  },
  shortcut: ({ stage, layer }) => {
    const at = `${BASE}layer${stage + 1}.${layer}.downsample`;
    return { convolution: `${at}.0`, norm: `${at}.1` };
  },
};

function timmSize(name: string, channels: number): ResidualSize {
  const depths = Object.hasOwn(DEPTHS, name) ? DEPTHS[name] : undefined;
  if (!depths) throw new GraphError(`config.json: the backbone ${name} of timm is not known`);
  const isBasic = BASIC.has(name);
  return {
    ...{ num_channels: channels, embedding_size: 64, depths, hidden_act: 'relu' },
    hidden_sizes: isBasic ? [64, 128, 256, 512] : [256, 512, 1024, 2048],
    layer_type: isBasic ? 'basic' : 'bottleneck',
    ...{ downsample_in_first_stage: false, downsample_in_bottleneck: false },
  };
}

/**
 * Images of the stages that are read, the fine ones first.
 * @param stages of timm's networks that are read where the configuration names none; all but the stem if absent
 */
export function detrBackbone(
  g: GraphWriter,
  pixels: Value,
  { use_timm_backbone, backbone: name, backbone_config: own, backbone_kwargs }: DetrBackbone,
  { channels, stages }: { channels: number; stages?: readonly number[] },
): Features[] {
  if (use_timm_backbone) {
    const size = timmSize(name ?? 'resnet50', backbone_kwargs?.in_chans ?? channels);
    const found = residualStages(g, pixels, size, TIMM);
    const wanted = backbone_kwargs?.out_indices ?? stages ?? size.depths.map((_, i) => i + 1);
    return wanted.map((stage) => stageOf(found, size, stage));
  }
  if (!own) throw new GraphError('config.json: backbone_config is missing');
  return backboneFeatures(g, pixels, own, BASE);
}

/** The stem of timm's networks is read before it is pooled, which no network here does. */
function stageOf(found: readonly Value[], { hidden_sizes }: ResidualSize, stage: number): Features {
  const [features, width] = [found[stage], hidden_sizes[stage - 1]];
  if (features === undefined || width === undefined)
    throw new GraphError('config.json: the backbone has no such stage');
  return { features, width };
}
