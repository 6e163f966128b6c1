const SEGMENTER = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** UTF-16 units that are looked at together: the segmenter's time grows with the square of its text. */
const CHUNK = 128;

/** What a reader takes for one character each. */
export function* graphemes(text: string): Generator<string> {
  for (let [at, size] = [0, CHUNK]; at < text.length;) {
    if (standsAlone(text, at)) {
      yield text[at++]!;
      continue;
    }
    const chunk = text.slice(at, at + size);
    const segments = Array.from(SEGMENTER.segment(chunk), ({ segment }) => segment);
    // The last one may go on behind the chunk.
    const whole = at + size >= text.length ? segments : segments.slice(0, -1);
    yield* whole;
    for (const segment of whole) at += segment.length;
    size = whole.length > 0 ? CHUNK : size * 2;
  }
}

/** An ASCII character before another one, or at the end. */
function standsAlone(text: string, at: number): boolean {
  const [unit, next] = [text.charCodeAt(at), text.charCodeAt(at + 1)];
  return unit < 0x80 && unit !== 0x0d && !(next >= 0x80);
}
