import type { AnyArchitecture } from '../../architecture.js';
import { timmConvnext } from './convnext.js';
import { timmEfficientnet } from './efficientnet.js';
import { timmResnet } from './resnet.js';
import { timmSwin } from './swin.js';
import { timmVit } from './vit.js';

/** Networks of timm, which have names of their own for tensors. */
export const TIMM: readonly AnyArchitecture[] = [
  timmResnet,
  timmVit,
  timmEfficientnet,
  timmConvnext,
  timmSwin,
];
