import * as z from 'zod';
import { channelNorm, layerNorm } from '../../layers/norm.js';
import { imageOf } from '../../layers/patch-embed.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { stageFields, stagesOf } from './stages.js';
import { convnextFields, convnextStages, EPSILON as CONVNEXT_EPSILON } from '../convnext.js';
import { hgnetFields, hgnetStages, sameLengths } from '../hgnet.js';
import { resnetConfig, resnetNames } from '../resnet.js';
import { type ResidualSize, residualStages } from '../../bases/vision/resnet-stages.js';
import { sameStages, swinFields, swinStages } from '../swin.js';

/** Networks that find the features of an image for another one. */

const swin = z
  .object({ ...swinFields, ...stageFields, model_type: z.literal('swin') })
  .superRefine(sameStages);
const maskFormerSwin = z
  .object({ ...swinFields, ...stageFields, model_type: z.literal('maskformer-swin') })
  .superRefine(sameStages);
const resnet = resnetConfig.extend({ ...stageFields, model_type: z.literal('resnet') });
const convnext = z.object({ ...convnextFields, ...stageFields, model_type: z.literal('convnext') });

const rtDetrResnet = resnetConfig.extend({ ...stageFields, model_type: z.literal('rt_detr_resnet') });
const hgnet = z
  .object({ ...hgnetFields, ...stageFields, model_type: z.literal('hgnet_v2') })
  .superRefine(sameLengths);

/** `backbone_config` of the types that are known. */
export const backbone = z.discriminatedUnion(
  'model_type',
  [swin, maskFormerSwin, resnet, rtDetrResnet, convnext, hgnet],
  { error: 'only resnet, rt_detr_resnet, hgnet_v2, swin and convnext are known as backbones' },
);
export type Backbone = z.output<typeof backbone>;

export interface Features {
  /** float32 [rows, width, lines, columns] */
  features: Value;
  width: number;
}

/** What the stages give that are read, the fine ones first. @param base of the names */
export function backboneFeatures(g: GraphWriter, pixels: Value, c: Backbone, base: string): Features[] {
  const all = STAGES[c.model_type](g, pixels, c as never, base);
  return stagesOf(c, c.depths.length).map((stage) => all(stage));
}

type Stages<C> = (g: GraphWriter, pixels: Value, c: C, base: string) => (stage: number) => Features;

const swinFeatures =
  (isMaskFormers: boolean): Stages<z.output<typeof swin> | z.output<typeof maskFormerSwin>> =>
  (g, pixels, c, base) => {
    const inner = isMaskFormers ? `${base}model.` : base;
    const stages = swinStages(g, pixels, c, { base: inner, alwaysShifts: true });
    return (stage) => {
      const { tokens, grid, width } = stages[stage]!;
      const name = isMaskFormers ? stage - 1 : stage === 0 ? 'stem' : `stage${stage}`;
      const norm = { width, epsilon: SWIN_EPSILON };
      const normed = layerNorm(g, tokens, `${base}hidden_states_norms.${name}`, norm);
      return { features: imageOf(g, normed, grid), width };
    };
  };
/** Of norms without a setting. */
const SWIN_EPSILON = 1e-5;

const residualFeatures =
  (isDeep: boolean): Stages<ResidualSize> =>
  (g, pixels, c, base) => {
    const stages = residualStages(g, pixels, { ...c, isDeep }, resnetNames(base));
    return (stage) => ({ features: stages[stage]!, width: c.hidden_sizes[stage - 1] ?? c.embedding_size });
  };

const STAGES: { readonly [T in Backbone['model_type']]: Stages<Extract<Backbone, { model_type: T }>> } = {
  swin: swinFeatures(false),
  'maskformer-swin': swinFeatures(true),
  resnet: residualFeatures(false),
  rt_detr_resnet: residualFeatures(true),
  hgnet_v2: (g, pixels, c, base) => {
    const stages = hgnetStages(g, pixels, c, base);
    return (stage) => ({
      features: stages[stage]!,
      width: c.stage_out_channels[stage - 1] ?? c.stem_channels[2],
    });
  },
  convnext: (g, pixels, c, base) => {
    const stages = convnextStages(g, pixels, c, base);
    return (stage) => {
      const width = c.hidden_sizes[Math.max(0, stage - 1)]!;
      const name = `${base}hidden_states_norms.${stage === 0 ? 'stem' : `stage${stage}`}`;
      return { features: channelNorm(g, stages[stage]!, name, { width, epsilon: CONVNEXT_EPSILON }), width };
    };
  },
};
