import type { ServerResponse } from 'node:http';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { RunError } from '../core/errors.js';
import { createBodyBuffer, type BodyLimits } from './body-buffer.js';
import { clientClosedRequest, releaseOnClose } from './lifetime.js';

/** Gives the bytes of a body as they were before compression. */
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

/** No text or picture is packed as tightly; a bomb is. */
const MAX_RATIO = 200;
/** Less than this does no harm, whatever it was packed into. */
const SMALL = 2 ** 20;

/** @throws RunError 415 for what is none of them */
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

/** Every piece is counted when it is there: what is too much ends the work, wherever it has got to. */
function inflate(stream: Transform, packed: Buffer, { name, response, limits }: Inflating): Promise<Buffer> {
  const gathered = createBodyBuffer(limits);
  const most = Math.max(SMALL, packed.length * MAX_RATIO);
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
        if (size > most) throw bomb(name);
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
