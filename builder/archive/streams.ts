import { createHash } from 'node:crypto';
import { PassThrough, type Readable, Transform, type TransformCallback } from 'node:stream';

const BUFFER_BYTES = 2 ** 18;

/** The same bytes; `digest` resolves to `sha256:` and their hash once all of them have been read. */
export function hashStream(source: Readable): { stream: Readable; digest: Promise<string> } {
  const hash = createHash('sha256');
  const stream = new Transform({
    highWaterMark: BUFFER_BYTES,
    transform: (chunk: Buffer, _, done) => done(null, (hash.update(chunk), chunk)),
  });
  const digest = new Promise<string>((resolve, reject) => {
    stream.once('end', () => resolve(`sha256:${hash.digest('hex')}`)).once('error', reject);
  });
  // Whoever reads the stream sees the same error.
  digest.catch(() => undefined);
  pipeWithErrors(source, stream);
  return { stream, digest };
}

/** The same bytes; `onBytes` gets how many have gone by. */
export function countBytes(source: Readable, onBytes: (total: number) => void): Readable {
  let total = 0;
  const transform = (chunk: Buffer, _: BufferEncoding, done: TransformCallback) => {
    onBytes((total += chunk.length));
    done(null, chunk);
  };
  return pipeWithErrors(source, new Transform({ highWaterMark: BUFFER_BYTES, transform }));
}

/** Two streams of the same bytes, as fast as the slower one is read; both fail when the source or the other one does. */
export function teeStream(source: Readable): [Readable, Readable] {
  return [pipeWithErrors(source, new PassThrough()), pipeWithErrors(source, new PassThrough())];
}

const cutOff = () => new Error('unexpected end of data');

/** Pipes, passes the source's error on, and ends the source when the target goes away early. */
export function pipeWithErrors<T extends NodeJS.WritableStream & Readable>(source: Readable, target: T): T {
  // What has failed already tells it to nobody again.
  if (source.destroyed && !source.readableEnded) return target.destroy(source.errored ?? cutOff());
  source.once('error', (error) => target.destroy(error));
  source.once('close', () => target.writable && target.destroy(cutOff()));
  target.once('close', () => source.destroy());
  source.pipe(target);
  return target;
}
