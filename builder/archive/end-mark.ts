import { type Readable, Transform, type TransformCallback } from 'node:stream';
import { malformedArchive } from './errors.js';
import { pipeWithErrors } from './streams.js';

const BLOCK = 512;
/** Longer extended headers are refused by who reads them. */
const LONGEST_PAX = 2 ** 20;

/**
 * The same bytes of a plain tar; it fails where more follows than the mark of its end. Engines stop at the mark, while
 * other programs read on: such a file would be one image here and another one there.
 */
export function requireEndMark(source: Readable, name: string): Readable {
  const walk = walker();
  const transform = (chunk: Buffer, _: BufferEncoding, done: TransformCallback) => {
    if (walk(chunk)) done(null, chunk);
    else done(malformedArchive(name, 'goes on behind the mark of its end'));
  };
  return pipeWithErrors(source, new Transform({ highWaterMark: 2 ** 18, transform }));
}

/** Follows a tar from header to header. @returns false once something follows the end */
function walker(): (chunk: Buffer) => boolean {
  let ended = false;
  let skip = 0;
  let block = Buffer.alloc(0);
  let wanted = BLOCK;
  /** The block that is collected extends the next header, or all that follow. */
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
    if ((type === 'x' || type === 'g') && size > 0 && size <= LONGEST_PAX) {
      [wanted, extending] = [size, type];
      return;
    }
    const own = sizes.x ?? sizes.g ?? size;
    // Of a long name the header that it is for comes yet.
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

/** Octal digits, or for large ones a number of 11 bytes behind a set bit. */
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
