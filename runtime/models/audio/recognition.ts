import type { AnyFamily } from '../family.js';
import { ast } from './audio-spectrogram-transformer.js';
import { canary } from './canary.js';
import { cohereAsr } from './cohere-asr.js';
import { data2vecAudio } from './data2vec-audio.js';
import { graniteSpeech5Ctc } from './granite-speech5.js';
import { hubert } from './hubert.js';
import { lasrCtc } from './lasr.js';
import { moonshineStreaming } from './moonshine-streaming.js';
import { moonshine } from './moonshine.js';
import { omniAsrCtc } from './omniasr.js';
import { parakeetCtc } from './parakeet.js';
import { parakeetRnnt } from './parakeet-rnnt.js';
import { parakeetTdt } from './parakeet-tdt.js';
import { speecht5 } from './speecht5/family.js';
import { speechToText } from './speech-to-text.js';
import { unispeech, unispeechSat, wav2vec2 } from './wav2vec2.js';
import { wav2vec2Bert } from './wav2vec2-bert.js';
import { wavlm } from './wavlm.js';
import { whisper } from './whisper.js';

/** Families that read audio clips. */
export const AUDIOS: readonly AnyFamily[] = [
  ...[wav2vec2, unispeech, unispeechSat, hubert, wavlm, data2vecAudio, wav2vec2Bert, parakeetCtc, lasrCtc],
  ...[
    omniAsrCtc,
    graniteSpeech5Ctc,
    parakeetTdt,
    parakeetRnnt,
    whisper,
    moonshine,
    moonshineStreaming,
    speecht5,
    speechToText,
    cohereAsr,
    canary,
    ast,
  ],
];
