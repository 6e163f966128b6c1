import { Writable } from 'node:stream';

/** A stream that keeps what commands write. */
export function sink() {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write: (chunk: Buffer, _, done) => (chunks.push(Buffer.from(chunk)), done()),
  });
  return {
    stream: stream as unknown as NodeJS.WriteStream,
    text: () => Buffer.concat(chunks).toString('utf8'),
    bytes: () => Buffer.concat(chunks),
  };
}
