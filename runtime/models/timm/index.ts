import type { AnyFamily } from '../family.js';
import { timmBeit } from './beit.js';
import { timmConvnext } from './convnext.js';
import { timmDensenet } from './densenet.js';
import { timmEfficientnet } from './efficientnet.js';
import { timmEva } from './eva.js';
import { timmRegnet } from './regnet.js';
import { timmResnet } from './resnet.js';
import { timmSwin } from './swin.js';
import { timmVit } from './vit.js';

/** Networks of timm, which have names of their own for tensors. */
export const TIMM: readonly AnyFamily[] = [
  timmResnet,
  timmRegnet,
  timmDensenet,
  timmVit,
  timmEfficientnet,
  timmConvnext,
  timmSwin,
  timmEva,
  timmBeit,
];
