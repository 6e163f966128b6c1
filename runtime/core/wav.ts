const HEADER_BYTES = 44;
const FLOAT = 4;
/** WAVE_FORMAT_IEEE_FLOAT */
const FLOAT_FORMAT = 3;

/**
 * A WAV file of one channel in 32-bit floats: nothing of what the model made is rounded or clipped.
 * @param rate samples per second
 */
export function encodeWav(samples: Float32Array, rate: number): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + samples.length * FLOAT);
  const view = new DataView(bytes.buffer);
  const text = (at: number, value: string) => bytes.set(new TextEncoder().encode(value), at);
  text(0, 'RIFF');
  view.setUint32(4, bytes.length - 8, true);
  text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, FLOAT_FORMAT, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, rate * FLOAT, true);
  view.setUint16(32, FLOAT, true);
  view.setUint16(34, 8 * FLOAT, true);
  text(36, 'data');
  view.setUint32(40, samples.length * FLOAT, true);
  for (let i = 0; i < samples.length; i++) view.setFloat32(HEADER_BYTES + i * FLOAT, samples[i]!, true);
  return bytes;
}
