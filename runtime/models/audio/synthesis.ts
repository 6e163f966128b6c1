import type { AnyFamily } from '../family.js';
import { musicgen } from './musicgen/family.js';
import { hifigan } from './speecht5/vocoder.js';
import { vits } from './vits/family.js';

/** Families that make audio clips. */
export const SPEECH: readonly AnyFamily[] = [vits, musicgen, hifigan];
