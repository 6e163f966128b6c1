/** Audio clips like speech to a spectrogram, always the same ones: voices that rise and fall over a soft noise. */
import { randomFrom } from './numbers.mjs';

const RATE = 16_000;
const COUNT = 4;
const HEADER = 44;

/** Base64 of WAV files (16 bits, 16 kHz, one channel) of so many seconds. */
export function audiosOf(seconds) {
  const random = randomFrom(seconds);
  return Array.from({ length: COUNT }, () => wav(voice(seconds * RATE, random)).toString('base64'));
}

function voice(length, random) {
  const [base, sway] = [90 + random() * 120, 2 + random() * 3];
  let phase = 0;
  return Int16Array.from({ length }, (_, i) => {
    const time = i / RATE;
    phase += (2 * Math.PI * base * (1 + 0.2 * Math.sin(sway * time))) / RATE;
    const syllable = Math.max(0, Math.sin(2 * Math.PI * 3.5 * time));
    const tones = Math.sin(phase) + Math.sin(5 * phase) / 2 + Math.sin(11 * phase) / 3;
    return 6000 * syllable * tones + 300 * (random() - 0.5);
  });
}

function wav(samples) {
  const file = Buffer.alloc(HEADER + samples.byteLength);
  file.write('RIFF', 0);
  file.writeUInt32LE(file.length - 8, 4);
  file.write('WAVEfmt ', 8);
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(RATE, 24);
  file.writeUInt32LE(RATE * 2, 28);
  file.writeUInt16LE(2, 32);
  file.writeUInt16LE(16, 34);
  file.write('data', 36);
  file.writeUInt32LE(samples.byteLength, 40);
  Buffer.from(samples.buffer).copy(file, HEADER);
  return file;
}
