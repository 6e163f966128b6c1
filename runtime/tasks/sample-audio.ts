/** Samples per second, and of the whole: a quarter of a second. */
const [RATE, LENGTH] = [4000, 1000];
/** Hertz. */
const TONE = 440;
const SILENCE = 128;

/** A tone as WAV of 8 bits in Base64. */
export function sampleAudio(): string {
  const wave = Uint8Array.from(
    { length: LENGTH },
    (_, i) => SILENCE + Math.round(100 * Math.sin((2 * Math.PI * TONE * i) / RATE)),
  );
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + LENGTH, 4);
  header.write('WAVEfmt ', 8);
  // PCM, one channel of one byte a sample.
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(RATE, 24);
  header.writeUInt32LE(RATE, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write('data', 36);
  header.writeUInt32LE(LENGTH, 40);
  return Buffer.concat([header, wave]).toString('base64');
}
