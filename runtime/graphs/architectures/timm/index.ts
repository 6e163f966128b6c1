import type { AnyArchitecture } from '../../architecture.js';
import { timmBeit } from './beit.js';
import { timmConvnext } from './convnext.js';
import { timmEfficientnet } from './efficientnet.js';
import { timmEva } from './eva.js';
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
  timmEva,
  timmBeit,
];
