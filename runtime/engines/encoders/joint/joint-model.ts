import type { LoadRequest } from '../../../core/load-request.js';
import type { Image } from '../../../media/decoded-image.js';
import { createSingleRuns } from '../../batching/single-runs.js';
import { openImageInput } from '../../images/image-input.js';
import type { ProcessedImage } from '../../processors/image/image-processor.js';
import { type Json } from '../../repository/model-folder.js';
import { readModelConfig } from '../../repository/model-config.js';
import { graphSource } from '../../sessions/graph-source.js';
import { openSessionPoolOnDemand } from '../../sessions/growing-pool.js';
import { requireOutputs } from '../../sessions/require-outputs.js';
import type { Tensors } from '../../sessions/tensors.js';
import { type Encoding, loadTokenizer, type TextTokenizer } from '../../tokenizers/tokenizer.js';
import { imageRow, isImageInput } from '../image/image-inputs.js';
import { createFeeds } from '../text/encoder/row-tensors.js';

/** A graph that reads an image and texts in one run. */
export interface JointModel {
  /** config.json */
  config: Json;
  tokenizer: TextTokenizer;
  /** True for a graph with the input attention_mask. */
  takesMask: boolean;
  /** What the graph reads of decoded pixels. */
  process(image: Image): ProcessedImage;
  /** Decodes an image as memory allows. @throws RunError 413, 415, 422; the signal's reason */
  readImage(bytes: Uint8Array, signal: AbortSignal): Promise<ProcessedImage>;
  /** Input tensors [texts, longest text], shorter ones padded; all of `width` tokens where that is given. */
  textFeeds(rows: readonly Encoding[], width?: number): Tensors;
  /**
   * Runs the graph with an image and with all texts, some at a time: what it makes of a text does not depend on the others,
   * and many texts at once would take much memory. Gives the outputs of each run and how many texts were in it.
   */
  runTexts(request: JointRequest): AsyncGenerator<{ outputs: Tensors; count: number }>;
  /** One run, on the next session that is free. Rejects with the signal's reason when that aborts before its turn. */
  run(feeds: Tensors, signal: AbortSignal): Promise<Tensors>;
  /** Input tensors of an image. */
  imageFeeds(image: ProcessedImage): Tensors;
}

export interface JointRequest {
  rows: readonly Encoding[];
  image: ProcessedImage;
  /** Tokens of every row, for graphs that take no mask. */
  width?: number;
  /** Texts of a run, at most, for graphs whose texts and images share an axis. */
  most?: number;
  signal: AbortSignal;
}

/** Most tokens of the texts of one run, padding included. */
const TOKENS = 1024;

/**
 * Opens a graph that reads an image and texts; its role is `model`.
 * @param needed outputs that the head reads
 * @throws RunError `not_ready` for a graph that does not give them
 */
export async function openJointModel(request: LoadRequest, ...needed: string[]): Promise<JointModel> {
  const [config, tokenizer, opened] = await Promise.all([
    readModelConfig(request.dir),
    loadTokenizer(request.dir),
    openSessionPoolOnDemand(request, graphSource(request, 'model')),
  ]);
  const { inputs, outputs } = opened;
  requireOutputs(outputs, needed);
  const images = await openImageInput(request, config);
  // A request's texts and image belong together.
  const forward = createSingleRuns(opened);
  const imageInputs = inputs.filter(({ name }) => isImageInput(name));
  const textInputs = inputs.filter(({ name }) => !isImageInput(name));
  const masks = givesMask(tokenizer);
  const imageFeeds: JointModel['imageFeeds'] = (image) => imageRow(imageInputs, image);
  const textFeeds: JointModel['textFeeds'] = (rows, width = 0) =>
    createFeeds(textInputs, padded(rows, { width, tokenizer, masks }), padId(tokenizer));
  async function run(feeds: Tensors, signal: AbortSignal): Promise<Tensors> {
    const found = await forward(feeds, signal);
    images.hasRun();
    return found;
  }
  return {
    ...{ config, tokenizer, imageFeeds, textFeeds, run },
    takesMask: textInputs.some(({ name }) => name === 'attention_mask'),
    process: images.process,
    readImage: images.read,
    async *runTexts({ rows, image, width = 0, most = Infinity, signal }) {
      const count = Math.min(most, textsPerRun(rows, width));
      for (let from = 0; from < rows.length; from += count) {
        const some = rows.slice(from, from + count);
        // A run takes the memory of its inputs.
        const feeds = {
          ...textFeeds(some, width),
          ...imageFeeds({ ...image, values: image.values.slice() }),
        };
        yield { outputs: await run(feeds, signal), count: some.length };
      }
    },
  };
}

function textsPerRun(rows: readonly Encoding[], width: number): number {
  const longest = rows.reduce((most, { ids }) => Math.max(most, ids.length), Math.max(1, width));
  return Math.max(1, Math.floor(TOKENS / longest));
}

const padId = (tokenizer: TextTokenizer): number => tokenizer.namedId('pad_token') ?? 0;

/** `model_input_names` says whether the model gets a mask, as in Python; without that setting it does. */
export function givesMask({ config }: TextTokenizer): boolean {
  const names = config['model_input_names'];
  return !Array.isArray(names) || names.includes('attention_mask');
}

interface Padding {
  /** Tokens of every row; 0 for as many as the longest has. */
  width: number;
  tokenizer: TextTokenizer;
  /** False: padding is seen like any other token. */
  masks: boolean;
}

/** Rows whose padding is part of them, where they have a width of their own or the model gets no mask. */
function padded(rows: readonly Encoding[], { width, tokenizer, masks }: Padding): readonly Encoding[] {
  if (width === 0 && masks) return rows;
  const longest = rows.reduce((most, { ids }) => Math.max(most, ids.length), width);
  const fill = (values: readonly number[], value: number) => {
    const more = new Array<number>(longest - values.length).fill(value);
    return tokenizer.paddingSide === 'left' ? [...more, ...values] : [...values, ...more];
  };
  return rows.map(({ ids, typeIds }) => ({
    ids: fill(ids, padId(tokenizer)),
    typeIds: fill(typeIds, 0),
    mask: fill(
      ids.map(() => 1),
      masks ? 0 : 1,
    ),
  }));
}
