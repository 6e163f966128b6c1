/** Formats of sounds that are made, beside WAV. */
export const SOUND_FORMATS = ['mp3', 'opus', 'aac', 'flac'] as const;

export type SoundFormat = (typeof SOUND_FORMATS)[number];
