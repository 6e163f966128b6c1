import type { AnyArchitecture } from '../../architecture.js';
import { beit } from './beit.js';
import { clip, clipText, clipVision } from './clip.js';
import { conditionalDetr } from './conditional-detr.js';
import { convnext, convnextv2 } from './convnext.js';
import { deit } from './deit.js';
import { depthAnything } from './depth-anything.js';
import { detr, tableTransformer } from './detr.js';
import { dinov2, dinov2WithRegisters } from './dinov2.js';
import { dinov3 } from './dinov3.js';
import { dinov3Convnext } from './dinov3-convnext.js';
import { dpt } from './dpt.js';
import { efficientnet } from './efficientnet.js';
import { mobilenetV1 } from './mobilenet-v1.js';
import { mobilenetV2 } from './mobilenet-v2.js';
import { glpn } from './glpn.js';
import { owlv2, owlvit } from './owl.js';
import { regnet } from './regnet.js';
import { resnet } from './resnet.js';
import { rtDetr, rtDetrV2 } from './rt-detr.js';
import { sam } from './sam.js';
import { segformer } from './segformer.js';
import { siglip, siglipVision } from './siglip.js';
import { swin } from './swin.js';
import { swinv2 } from './swinv2.js';
import { timesformer } from './timesformer.js';
import { videomae } from './videomae.js';
import { vilt } from './vilt.js';
import { vit } from './vit.js';
import { vivit } from './vivit.js';
import { yolos } from './yolos.js';

/** Families that read pictures. */
export const PICTURES: readonly AnyArchitecture[] = [
  ...[vit, deit, dinov2, dinov2WithRegisters, dinov3, dinov3Convnext, beit],
  ...[clip, clipVision, clipText, siglip, siglipVision],
  ...[mobilenetV1, mobilenetV2, efficientnet, regnet],
  ...[resnet, convnext, convnextv2, swin, swinv2, segformer],
  ...[detr, tableTransformer, conditionalDetr, yolos, rtDetr, rtDetrV2, owlvit, owlv2],
  ...[dpt, depthAnything, glpn, sam],
  ...[vilt, videomae, vivit, timesformer],
];
