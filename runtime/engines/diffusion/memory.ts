import { RunError } from '../../core/errors.js';
import { inMegabytes } from '../../memory.js';
import type { LoadRequest } from '../../core/load-request.js';
import { type Json } from '../repository/model-folder.js';
import { availableMemory } from '../sessions/available-memory.js';
import type { Size } from './size.js';

const FLOAT = 4;
/** Scores of attention and their softmax are in memory together. */
const SCORES = 2;
/** Tensors of a block that are in memory together, as wide as its output. */
const TENSORS = 4;

const numbers = (value: unknown): number[] =>
  (Array.isArray(value) ? value : [value]).filter((one): one is number => typeof one === 'number');

/** Bytes of one run of a UNet, by its widest convolutions and its longest attention. */
export function unetBytes(config: Json, { height, width }: Size, rows: number): number {
  const channels = numbers(config['block_out_channels']);
  const blocks = Array.isArray(config['down_block_types']) ? config['down_block_types'].map(String) : [];
  const level = blocks.findIndex((name) => name.includes('Attn'));
  const cells = height * width;
  const attended = level < 0 ? 0 : Math.ceil(cells / 4 ** level);
  // The field's name is wrong in the networks that read texts: there it counts the heads.
  const given = numbers(config['num_attention_heads'] ?? config['attention_head_dim']);
  const each = given[Math.min(Math.max(level, 0), given.length - 1)] ?? 8;
  const reads = config['cross_attention_dim'] != null;
  const heads = reads ? each : Math.ceil((channels[Math.max(level, 0)] ?? 0) / each);
  return FLOAT * rows * (TENSORS * cells * (channels[0] ?? 0) + SCORES * heads * attended ** 2);
}

/** Bytes of one run of a decoder: its last blocks have the size of the picture. */
export function decoderBytes(config: Json, { height, width }: Size): number {
  const [first = 0, second = first, ...rest] = numbers(config['block_out_channels']);
  const cells = (height * width) / 4 ** (rest.length + 1);
  const attention = config['mid_block_add_attention'] === false ? 0 : SCORES * cells ** 2;
  return FLOAT * (height * width * (2 * first + second) + attention);
}

/**
 * Watches that runs fit into the memory that is left once the model is open.
 * @returns throws a RunError 422 for runs that take more
 */
export function createRoom({ memory }: LoadRequest): (bytes: number) => void {
  const available = availableMemory(memory);
  return (bytes) => {
    if (bytes <= available) return;
    throw new RunError(
      'unprocessable',
      `a picture of this size takes ${inMegabytes(bytes)}; in the ${inMegabytes(memory!.limit)} of memory that this server ` +
        `may use there are ${inMegabytes(available)}: ask for less with params.height and params.width, or give the server more memory`,
    );
  };
}
