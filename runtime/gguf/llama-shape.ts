import { RunError } from '../core/errors.js';
import type { LlamaSettings, MemoryLimits } from '../core/load-request.js';
import { llamaMemory, type LlamaShape } from './memory.js';
import type { GgufModel } from './parts.js';
import { type GgufSizes, ggufSizes } from './sizes.js';
import { inMegabytes } from '../memory.js';

/** Tokens of the usual cache: a long text, or several of usual length. */
const USUAL_CELLS = 16_384;
/** llama.cpp takes no other numbers. */
const CELL_STEP = 256;

const [MOST_ROWS, FEWEST_ROWS] = [64, 16];
const MOST_BATCH = 512;
/** Scores in a run: of each row, or of a piece of a prompt. */
const SCORE_BYTES = 64 * 2 ** 20;

export interface ShapeInput {
  model: Pick<GgufModel, 'metadata' | 'tensors'>;
  settings: LlamaSettings;
  /** Bytes that caches may take. */
  cacheBytes: number;
  /** Bytes that are left for the model; Infinity where nothing sets a limit. */
  room: number;
  /** Of it, what the cache should leave; none if absent. */
  spare?: number;
  limit: MemoryLimits | undefined;
}

/**
 * How a model is opened such that it fits: with fewer tokens of cache where memory is short.
 * @throws RunError `not_ready`, with numbers, where it does not fit at all: the system would end the process
 */
export function shapeFor(input: ShapeInput): LlamaShape {
  const { model, settings, room, spare = 0 } = input;
  const sizes = ggufSizes(model.metadata, model.tensors);
  const rows = Math.max(
    FEWEST_ROWS,
    Math.min(MOST_ROWS, Math.floor(SCORE_BYTES / 4 / Math.max(1, sizes.vocabulary))),
  );
  const base = {
    ...{ rows, outputs: rows, batch: MOST_BATCH },
    cacheType: settings.cacheType ?? (isFull(model) ? ('f32' as const) : ('f16' as const)),
  };
  const bytesWith = (cells: number) => llamaMemory(model, { ...base, cells });
  const asked = settings.contextLength;
  if (asked !== undefined) {
    const shape = { ...base, cells: upTo(asked) };
    refuseTooLarge(input, bytesWith(shape.cells).total, `with CONTEXT_LENGTH ${asked}`);
    return shape;
  }
  for (let cells = usualCells(sizes); ; cells = Math.max(CELL_STEP, upTo(cells / 2))) {
    const { cache, total } = bytesWith(cells);
    const isLeast = cells === CELL_STEP;
    const fits = total + (isLeast ? 0 : spare) <= room;
    if (fits && (cache <= input.cacheBytes || isLeast)) return { ...base, cells };
    if (isLeast) refuseTooLarge(input, total, `with a cache of ${cells} tokens`);
  }
}

const upTo = (cells: number): number => Math.ceil(cells / CELL_STEP) * CELL_STEP;

/** Several texts of a model with a short context, one of a model with a long one; a larger cache has other positions in some. */
function usualCells({ trainedLength, shortLength }: GgufSizes): number {
  const length = trainedLength || USUAL_CELLS;
  const cells = upTo(Math.min(USUAL_CELLS, 16 * length));
  const short = Math.max(CELL_STEP, Math.floor(shortLength / CELL_STEP) * CELL_STEP);
  return shortLength > 0 ? Math.min(cells, short) : cells;
}

/** True for weights of 32 bits, which are there to be exact. */
const isFull = ({ tensors }: ShapeInput['model']): boolean =>
  tensors.every(({ type, shape }) => shape.length < 2 || type === 'F32');

function refuseTooLarge({ room, limit }: ShapeInput, total: number, how: string): void {
  if (total <= room) return;
  throw new RunError(
    'not_ready',
    `the model takes ${inMegabytes(total)} ${how}, and ${inMegabytes(room)} of ${inMegabytes(limit?.limit ?? room)} are left ` +
      'for it: give the server more memory, set a smaller CONTEXT_LENGTH, or take a file with fewer bits',
  );
}
