/** Frames: as many as models for clips read. */
const FRAMES = 64;
/** Pixels of the clip's sides, the fewest that all models take, and of the part of it that moves: as few bytes as will do. */
const [SCREEN, SIDE] = [32, 4];
/** Hundredths of a second of a frame. */
const DELAY = 10;
/** Bits of the colours: four of them. Codes have one bit more, and it stays so as long as the table is cleared in time. */
const COLOUR_BITS = 2;
const CODE_BITS = COLOUR_BITS + 1;
const [CLEAR, END] = [4, 5];

/** A short clip as an animated GIF in Base64: colours that move down by a row with each frame. */
export function sampleClip(): string {
  const header = [...Buffer.from('GIF89a'), ...word(SCREEN), ...word(SCREEN), 0x80 | (COLOUR_BITS - 1), 0, 0];
  const colours = [0, 0, 0, 200, 60, 40, 40, 160, 220, 240, 240, 200];
  const frames = Array.from({ length: FRAMES }, (_, i) => frame(i)).flat();
  return Buffer.from([...header, ...colours, ...frames, 0x3b]).toString('base64');
}

const word = (value: number): number[] => [value & 255, value >> 8];

function frame(index: number): number[] {
  const control = [0x21, 0xf9, 4, 0, ...word(DELAY), 0, 0];
  const place = [0x2c, ...word(0), ...word(0), ...word(SIDE), ...word(SIDE), 0];
  const codes: number[] = [];
  for (let i = 0; i < SIDE * SIDE; i++) {
    // A code gets longer with the third pixel after the table was cleared.
    if (i % 2 === 0) codes.push(CLEAR);
    codes.push((Math.floor(i / SIDE) + index) % 4);
  }
  const data = packed([...codes, END]);
  return [...control, ...place, COLOUR_BITS, data.length, ...data, 0];
}

function packed(codes: readonly number[]): number[] {
  const bytes = new Array<number>(Math.ceil((codes.length * CODE_BITS) / 8)).fill(0);
  for (const [i, code] of codes.entries()) {
    for (let bit = 0; bit < CODE_BITS; bit++) {
      const at = i * CODE_BITS + bit;
      bytes[at >> 3]! |= ((code >> bit) & 1) << (at & 7);
    }
  }
  return bytes;
}
