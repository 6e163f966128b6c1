import { createHash } from 'node:crypto';
import { PassThrough, type Readable, Transform, type TransformCallback } from 'node:stream';

const BUFFER_BYTES = 2 ** 18;

/** Passes bytes through; `digest` resolves to `sha256:` and their hash at the end. */
export function hashStream(source: Readable): { stream: Readable; digest: Promise<string> } {
  const hash = createHash('sha256');
  const stream = new Transform({
    highWaterMark: BUFFER_BYTES,
    transform: (chunk: Buffer, _, done) => done(null, (hash.update(chunk), chunk)),
  });
  const digest = new Promise<string>((resolve, reject) => {
    stream.once('end', () => resolve(`sha256:${hash.digest('hex')}`)).once('error', reject);
  });
  // The reader of the stream gets the same error.
  digest.catch(() => undefined);
  pipeWithErrors(source, stream);
  return { stream, digest };
}

/** Passes bytes through and reports how many so far. */
export function countBytes(source: Readable, onBytes: (total: number) => void): Readable {
  let total = 0;
  const transform = (chunk: Buffer, _: BufferEncoding, done: TransformCallback) => {
    onBytes((total += chunk.length));
    done(null, chunk);
  };
  return pipeWithErrors(source, new Transform({ highWaterMark: BUFFER_BYTES, transform }));
}

/** Splits a stream in two, at the speed of the slower reader. Both fail when the source or the other one fails. */
export function teeStream(source: Readable): [Readable, Readable] {
  return [pipeWithErrors(source, new PassThrough()), pipeWithErrors(source, new PassThrough())];
}

const cutOff = () => new Error('unexpected end of data');

/** Pipes and forwards errors; destroys the source when the target closes early. */
export function pipeWithErrors<T extends NodeJS.WritableStream & Readable>(source: Readable, target: T): T {
  // A stream that has failed before emits no further error event.
  if (source.destroyed && !source.readableEnded) return target.destroy(source.errored ?? cutOff());
  source.once('error', (error) => target.destroy(error));
  source.once('close', () => target.writable && target.destroy(cutOff()));
  target.once('close', () => source.destroy());
  source.pipe(target);
  return target;
}
