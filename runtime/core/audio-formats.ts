/** Formats of audio clips that are made, beside WAV. */
export const AUDIO_FORMATS = ['mp3', 'opus', 'aac', 'flac'] as const;

export type AudioFormat = (typeof AUDIO_FORMATS)[number];
