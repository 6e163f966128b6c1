/** A part of a transcript with its times in seconds. */
export interface Segment {
  text: string;
  start: number;
  end: number;
}

/** `01:02:03,456`. */
function clock(seconds: number, point: string): string {
  const ms = Math.round(seconds * 1000);
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const time = [two(ms / 3_600_000), two((ms / 60_000) % 60), two((ms / 1000) % 60)].join(':');
  return time + point + String(ms % 1000).padStart(3, '0');
}

/** SubRip. */
export function srtOf(segments: readonly Segment[]): string {
  return segments
    .map(
      ({ text, start, end }, i) =>
        `${i + 1}\n${clock(start, ',')} --> ${clock(end, ',')}\n${text.trim()}\n\n`,
    )
    .join('');
}

/** WebVTT. A blank line or an arrow would end a cue. */
export function vttOf(segments: readonly Segment[]): string {
  const cues = segments.map(
    ({ text, start, end }) =>
      `${clock(start, '.')} --> ${clock(end, '.')}\n${text.trim().replaceAll('-->', '->')}\n\n`,
  );
  return `WEBVTT\n\n${cues.join('')}`;
}
