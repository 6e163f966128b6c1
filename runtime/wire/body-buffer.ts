import type { ServerResponse } from 'node:http';
import type { Request } from 'express';
import { RunError } from '../core/errors.js';
import type { ReserveBytes } from './byte-budget.js';
import { clientClosedRequest } from './lifetime.js';

export interface BodyLimits {
  maxBytes: number;
  /** The variable that sets it, for error messages. */
  setting: string | undefined;
  hold: ReserveBytes;
}

export function bodyTooLarge({ maxBytes, setting }: Omit<BodyLimits, 'hold'>): RunError {
  const where = setting === undefined ? '' : ` (${setting})`;
  return new RunError('payload_too_large', `the body is larger than ${maxBytes} bytes${where}`);
}

/** Collects pieces in one buffer, since pieces of one byte each would take a hundred times their size. */
export interface BodyBuffer {
  /** @throws RunError when the limit of the body or of the budget is exceeded */
  add(piece: Buffer): void;
  bytes(): Buffer;
}

const LEAST = 2 ** 14;

/** The announced length is trusted only after this many bytes have arrived. */
const TRUST_AFTER = 2 ** 19;

/** @param announced the announced length in bytes, not verified */
export function createBodyBuffer(limits: BodyLimits, announced = 0): BodyBuffer {
  const { maxBytes, hold } = limits;
  let buffer: Buffer = Buffer.alloc(0);
  let size = 0;
  /** Copying large bodies blocks the event loop, so with a known length the buffer grows only once. */
  const roomFor = (bytes: number) =>
    Math.min(maxBytes, bytes >= TRUST_AFTER && announced >= bytes ? announced : Math.max(2 * bytes, LEAST));

  return {
    add(piece) {
      const grown = size + piece.length;
      if (grown > maxBytes) throw bodyTooLarge(limits);
      hold(piece.length);
      if (size === 0) buffer = piece;
      else {
        if (grown > buffer.length) buffer = enlarged(buffer.subarray(0, size), roomFor(grown));
        piece.copy(buffer, size);
      }
      size = grown;
    },
    bytes: () => buffer.subarray(0, size),
  };
}

function enlarged(bytes: Buffer, size: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(size);
  bytes.copy(larger);
  return larger;
}

/** This many pieces may have any size; each costs as much as some hundred bytes. */
const FREE_PIECES = 5000;
const LEAST_PIECE = 64;

function announcedBy({ headers }: Request): number {
  return Number(headers['content-length'] ?? 0);
}

/** Uses events, because an iterator would be most of the cost of a short body. */
export function readBodyBytes(
  request: Request,
  response: ServerResponse,
  limits: BodyLimits,
): Promise<Buffer> {
  const gathered = createBodyBuffer(limits, announcedBy(request));
  let [pieces, size] = [0, 0];
  return new Promise((resolve, reject) => {
    const left = () => reject(clientClosedRequest());
    if (request.destroyed) return left();
    const onData = (chunk: Buffer) => {
      try {
        gathered.add(chunk);
        size += chunk.length;
        if (++pieces > FREE_PIECES && size < pieces * LEAST_PIECE) throw refuseTinyPieces(request, response);
      } catch (error) {
        // The rest is read and discarded; otherwise a client that is still sending would miss the answer.
        request.off('data', onData);
        reject(error);
      }
    };
    request.on('data', onData);
    request.once('close', left);
    request.once('end', () => {
      request.off('close', left);
      resolve(gathered.bytes());
    });
  });
}

/** Closes the connection: discarding such tiny pieces would cost as much as reading them. */
function refuseTinyPieces(request: Request, response: ServerResponse): RunError {
  request.pause();
  response.setHeader('Connection', 'close');
  return new RunError(
    'invalid_input',
    `the body comes in more than ${FREE_PIECES} pieces of less than ${LEAST_PIECE} bytes; send larger ones`,
  );
}
