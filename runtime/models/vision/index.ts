import type { AnyFamily } from '../family.js';
import { beit } from './beit.js';
import { chmv2 } from './chmv2.js';
import { clip, clipText, clipVision } from './clip.js';
import { conditionalDetr } from './conditional-detr.js';
import { convnext } from './convnext.js';
import { convnextv2 } from './convnextv2.js';
import { dFine } from './d-fine/family.js';
import { deformableDetr } from './deformable-detr.js';
import { deit } from './deit.js';
import { depthAnything } from './depth-anything.js';
import { detr, tableTransformer } from './detr.js';
import { dinov2, dinov2WithRegisters } from './dinov2/family.js';
import { dinov3 } from './dinov3.js';
import { dinov3Convnext } from './dinov3-convnext.js';
import { dpt } from './dpt.js';
import { efficientnet } from './efficientnet.js';
import { mobilenetV1 } from './mobilenet-v1.js';
import { mobilenetV2 } from './mobilenet-v2.js';
import { mobilevit } from './mobilevit/family.js';
import { glpn } from './glpn.js';
import { groundingDino, mmGroundingDino } from './grounding-dino/family.js';
import { levit } from './levit/family.js';
import { mask2former } from './mask2former/family.js';
import { maskformer } from './maskformer.js';
import { hgnet } from './hgnet.js';
import { owlv2 } from './owlv2.js';
import { owlvit } from './owlvit.js';
import { poolformer } from './poolformer.js';
import { regnet } from './regnet.js';
import { resnet } from './resnet.js';
import { rfDetr } from './rf-detr/family.js';
import { rtDetr, rtDetrV2 } from './rt-detr/family.js';
import { eomt, eomtDinov3 } from './eomt.js';
import { sam } from './sam/family.js';
import { samHq } from './sam/sam-hq.js';
import { edgeTam } from './edgetam/family.js';
import { sam2 } from './sam2/family.js';
import { sapiens2 } from './sapiens2/family.js';
import { sam3Tracker, sam3Video } from './sam3/family.js';
import { segformer } from './segformer.js';
import { siglip, siglipVision } from './siglip.js';
import { siglip2, siglip2Vision } from './siglip2.js';
import { swiftformer } from './swiftformer.js';
import { swin } from './swin.js';
import { swinv2 } from './swinv2.js';
import { timesformer } from './timesformer.js';
import { upernet } from './upernet.js';
import { videomae } from './videomae.js';
import { vilt } from './vilt.js';
import { vit } from './vit.js';
import { vivit } from './vivit.js';
import { yolos } from './yolos.js';

/** Families that read images. */
export const IMAGES: readonly AnyFamily[] = [
  ...[vit, deit, dinov2, dinov2WithRegisters, dinov3, dinov3Convnext, beit],
  ...[clip, clipVision, clipText, siglip, siglipVision, siglip2, siglip2Vision],
  ...[mobilenetV1, mobilenetV2, mobilevit, efficientnet, regnet, hgnet],
  ...[resnet, convnext, convnextv2, poolformer, levit, swiftformer, swin, swinv2, segformer],
  ...[detr, tableTransformer, conditionalDetr, deformableDetr, yolos, rtDetr, rtDetrV2, dFine, rfDetr],
  ...[owlvit, owlv2, groundingDino, mmGroundingDino],
  ...[maskformer, mask2former, upernet, sapiens2],
  ...[dpt, depthAnything, chmv2, glpn, sam, samHq, sam2, sam3Tracker, sam3Video, edgeTam],
  ...[eomt, eomtDinov3],
  ...[vilt, videomae, vivit, timesformer],
];
