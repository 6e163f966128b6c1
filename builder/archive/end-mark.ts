import { type Readable, Transform, type TransformCallback } from 'node:stream';
import { malformedArchive } from './errors.js';
import { pipeWithErrors } from './streams.js';

const BLOCK = 512;
/** Readers refuse longer extended headers. */
const MAX_PAX_BYTES = 2 ** 20;

/**
 * Passes a plain tar through; fails if anything follows its end mark. Engines stop at the mark while other programs read
 * on, so they would see different images.
 */
export function requireEndMark(source: Readable, name: string): Readable {
  const walk = walker();
  const transform = (chunk: Buffer, _: BufferEncoding, done: TransformCallback) => {
    if (walk(chunk)) done(null, chunk);
    else done(malformedArchive(name, 'goes on behind the mark of its end'));
  };
  return pipeWithErrors(source, new Transform({ highWaterMark: 2 ** 18, transform }));
}

/** Parses the headers of a tar. @returns false when something follows the end */
function walker(): (chunk: Buffer) => boolean {
  let ended = false;
  let skip = 0;
  let block = Buffer.alloc(0);
  let wanted = BLOCK;
  /** Kind of the extended header being read: for the next member, or for all that follow. */
  let extending: 'x' | 'g' | undefined;
  const sizes: { x?: number | undefined; g?: number | undefined } = {};

  function take(): void {
    const bytes = block;
    block = Buffer.alloc(0);
    if (extending !== undefined) {
      sizes[extending] = paxSize(bytes) ?? sizes[extending];
      skip = padding(bytes.length);
      [wanted, extending] = [BLOCK, undefined];
      return;
    }
    if (bytes.every((byte) => byte === 0)) return void (ended = true);
    const [type, size] = [String.fromCharCode(bytes[156]!), sizeIn(bytes)];
    if ((type === 'x' || type === 'g') && size > 0 && size <= MAX_PAX_BYTES) {
      [wanted, extending] = [size, type];
      return;
    }
    const own = sizes.x ?? sizes.g ?? size;
    // The header that a long name belongs to comes next.
    if (type !== 'L' && type !== 'K') sizes.x = undefined;
    skip = type === '5' ? 0 : own + padding(own);
  }

  return (chunk) => {
    for (let at = 0; at < chunk.length;) {
      if (ended) return chunk.subarray(at).every((byte) => byte === 0);
      if (skip > 0) {
        const step = Math.min(skip, chunk.length - at);
        [skip, at] = [skip - step, at + step];
        continue;
      }
      const part = chunk.subarray(at, at + wanted - block.length);
      block = Buffer.concat([block, part]);
      at += part.length;
      if (block.length === wanted) take();
    }
    return true;
  };
}

const padding = (size: number) => (BLOCK - (size % BLOCK)) % BLOCK;

/** Octal digits, or for large files a binary number of 11 bytes, marked by the first bit. */
function sizeIn(header: Buffer): number {
  const field = header.subarray(124, 136);
  if ((field[0]! & 0x80) === 0)
    return Number.parseInt(field.toString('latin1').replace(/[\0 ]+/g, ''), 8) || 0;
  return Number(BigInt(`0x${field.subarray(1).toString('hex')}`));
}

function paxSize(content: Buffer): number | undefined {
  const found = /(?:^|\n)\d+ size=(\d+)\n/.exec(content.toString('latin1'))?.[1];
  return found === undefined ? undefined : Number(found);
}
