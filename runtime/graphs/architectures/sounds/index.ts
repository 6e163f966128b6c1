import type { AnyArchitecture } from '../../architecture.js';
import { ast } from './ast.js';
import { hubert } from './hubert.js';
import { moonshine } from './moonshine.js';
import { unispeech, unispeechSat, wav2vec2 } from './wav2vec2.js';
import { wavlm } from './wavlm.js';
import { whisper } from './whisper.js';

/** Families that read sounds. */
export const SOUNDS: readonly AnyArchitecture[] = [
  ...[wav2vec2, unispeech, unispeechSat, hubert, wavlm],
  ...[whisper, moonshine, ast],
];
