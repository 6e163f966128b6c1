import { once } from 'node:events';
import type { Readable, Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { BuilderError } from '../exit.js';
import { pipeWithErrors } from './streams.js';

const GZIP = Buffer.from([0x1f, 0x8b]);
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
const CHUNK_BYTES = 2 ** 18;

/**
 * Decompresses a stream: gzip, zstd or none, detected by its first bytes. It fails when the source fails.
 * @throws BuilderError if this Node.js does not support zstd
 */
export async function decompress(source: Readable): Promise<Readable> {
  const inflate = inflaterFor(await firstBytes(source));
  return inflate === undefined ? source : pipeWithErrors(source, inflate);
}

function inflaterFor(head: Buffer): Transform | undefined {
  if (startsWith(head, GZIP)) return zlib.createGunzip({ chunkSize: CHUNK_BYTES });
  return startsWith(head, ZSTD) ? zstdDecompress() : undefined;
}

function startsWith(head: Buffer, magic: Buffer): boolean {
  return head.subarray(0, magic.length).equals(magic);
}

function zstdDecompress(): Transform {
  // Not in the oldest supported version of Node.js.
  const { createZstdDecompress } = zlib as { createZstdDecompress?: () => Transform };
  if (createZstdDecompress) return createZstdDecompress();
  const remedy = 'use Node.js 22.15 or later, or decompress it first with "zstd -d"';
  throw new BuilderError('failure', `the archive is compressed with zstd: ${remedy}`);
}

/** The first chunk of a stream, or nothing. The stream can still be read from its start. */
export async function firstBytes(source: Readable): Promise<Buffer> {
  const ended = new AbortController();
  const stop = () => ended.abort();
  source.once('end', stop).once('close', stop);
  try {
    while (!source.destroyed && !source.readableEnded) {
      const chunk = source.read() as Buffer | null;
      if (chunk !== null) {
        source.unshift(chunk);
        return chunk;
      }
      await once(source, 'readable', { signal: ended.signal });
    }
  } catch (error) {
    if ((error as Error).name !== 'AbortError') throw error;
  } finally {
    source.off('end', stop).off('close', stop);
  }
  return Buffer.alloc(0);
}
