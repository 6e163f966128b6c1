/** How far the files of a model have been read while it is opened. */
export interface ReadProgress {
  doneBytes: number;
  totalBytes: number;
  /** Since the first byte. */
  seconds: number;
}

const gigabytes = (bytes: number): string => (bytes / 1e9).toFixed(1);

function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** For logs: `read 12.3 of 42.0 GB of the model, 210 MB/s, 2 min 22 s left`. */
export function readText({ doneBytes, totalBytes, seconds }: ReadProgress): string {
  const speed = doneBytes / seconds;
  const left = duration((totalBytes - doneBytes) / speed);
  const read = `read ${gigabytes(doneBytes)} of ${gigabytes(totalBytes)} GB of the model`;
  return `${read}, ${Math.round(speed / 1e6)} MB/s, ${left} left`;
}
