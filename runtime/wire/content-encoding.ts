import type { ServerResponse } from 'node:http';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { RunError } from '../core/errors.js';
import { createBodyBuffer, type BodyLimits } from './body-buffer.js';
import { clientClosedRequest, releaseOnClose } from './lifetime.js';

/** Decompresses a body. */
export type DecodeBody = (
  bytes: Buffer,
  response: ServerResponse,
  limits: BodyLimits,
) => Promise<Buffer> | Buffer;

const PIECE = { chunkSize: 2 ** 16 };

const OPEN: Record<string, () => Transform> = {
  gzip: () => createGunzip(PIECE),
  deflate: () => createInflate(PIECE),
  br: () => createBrotliDecompress(PIECE),
};

/** Higher ratios only occur in decompression bombs. */
const MAX_RATIO = 200;
/** Bodies up to this size may have any ratio. */
const SMALL = 2 ** 20;

/** @throws RunError 415 for an unknown encoding */
export function contentDecoder(encoding = 'identity'): DecodeBody {
  const name = encoding.trim().toLowerCase();
  if (name === 'identity') return (bytes) => bytes;
  const open = Object.hasOwn(OPEN, name) ? OPEN[name] : undefined;
  if (!open)
    throw new RunError('unsupported_media', 'the body may be plain or compressed with gzip, deflate or br');
  return (bytes, response, limits) => inflate(open(), bytes, { name, response, limits });
}

interface Inflating {
  name: string;
  response: ServerResponse;
  limits: BodyLimits;
}

/** Counts every piece and stops as soon as a limit is exceeded. */
function inflate(stream: Transform, packed: Buffer, { name, response, limits }: Inflating): Promise<Buffer> {
  const gathered = createBodyBuffer(limits);
  const maxBytes = Math.max(SMALL, packed.length * MAX_RATIO);
  let size = 0;
  return new Promise((resolve, reject) => {
    const fail = (error: RunError) => {
      stream.destroy();
      reject(error);
    };
    const take = (piece: Buffer) => {
      try {
        gathered.add(piece);
        size += piece.length;
        if (size > maxBytes) throw bomb(name);
      } catch (error) {
        fail(error as RunError);
      }
    };
    stream.on('data', take);
    stream.once('error', () => fail(new RunError('invalid_input', `the body is not valid ${name}`)));
    stream.once('end', () => resolve(gathered.bytes()));
    releaseOnClose(response, () => fail(clientClosedRequest()));
    stream.end(packed);
  });
}

function bomb(name: string): RunError {
  return new RunError(
    'payload_too_large',
    `the body becomes more than ${MAX_RATIO} times as large without ${name}; send it plain`,
  );
}
