import { RunError } from '../../../core/errors.js';

/** Rate of OpenAI's raw samples. */
export const PCM_RATE = 24_000;

const FLOAT = 4;

/**
 * Raw samples of a WAV file as our tasks make them (one channel, 32-bit floats): signed 16-bit little endian at 24 kHz,
 * as OpenAI sends them. Between samples it draws straight lines.
 */
export function pcmOf(wav: Uint8Array): Buffer {
  const view = new DataView(wav.buffer, wav.byteOffset, wav.byteLength);
  const { rate, start, count } = layoutOf(view);
  const length = Math.floor((count * PCM_RATE) / rate);
  const pcm = Buffer.alloc(length * 2);
  const sample = (i: number) => view.getFloat32(start + Math.min(i, count - 1) * FLOAT, true);
  for (let i = 0; i < length; i++) {
    const at = (i * rate) / PCM_RATE;
    const before = Math.floor(at);
    const value = sample(before) + (sample(before + 1) - sample(before)) * (at - before);
    pcm.writeInt16LE(Math.round(Math.max(-1, Math.min(1, value)) * 32_767), i * 2);
  }
  return pcm;
}

/** Where the samples of the file lie. @throws RunError for a file that no task of ours makes */
function layoutOf(view: DataView): { rate: number; start: number; count: number } {
  const isFloat = view.byteLength >= 44 && view.getUint16(20, true) === 3 && view.getUint16(22, true) === 1;
  if (!isFloat) throw new RunError('engine_failed', 'the model made an audio clip of another form');
  return { rate: view.getUint32(24, true), start: 44, count: Math.floor(view.getUint32(40, true) / FLOAT) };
}
