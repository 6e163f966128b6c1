const SEGMENTER = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** UTF-16 units that are looked at together: the segmenter's time grows with the square of its text. */
const CHUNK = 128;

/** What a reader takes for one character each. */
export function* graphemes(text: string): Generator<string> {
  for (let [at, size] = [0, CHUNK]; at < text.length;) {
    const chunk = text.slice(at, at + size);
    const segments = Array.from(SEGMENTER.segment(chunk), ({ segment }) => segment);
    const isLast = at + size >= text.length;
    // The last one may go on behind the chunk.
    const whole = isLast ? segments : segments.slice(0, -1);
    yield* whole;
    for (const segment of whole) at += segment.length;
    size = whole.length > 0 ? CHUNK : size * 2;
  }
}
