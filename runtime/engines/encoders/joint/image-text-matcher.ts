import { createByteCache } from '../../../core/byte-cache.js';
import { RunError } from '../../../core/errors.js';
import type { ImageTextMatcher } from '../../../core/handles/index.js';
import type { LoadRequest } from '../../../core/load-request.js';
import { readersIn } from '../../repository/named-readers.js';
import { contextLengthOf } from '../../repository/sequence-lengths.js';
import { toLogits } from '../../sessions/tensors.js';
import type { Encoding } from '../../tokenizers/tokenizer.js';
import { sampleImage } from '../image/sample-image.js';
import { givesMask, type JointModel, openJointModel } from './joint-model.js';
import { dot, embeddingsOf, findLogitScale, type LogitScale } from './text-embeddings.js';

/** Tokens of every text of SigLIP, which was trained on rows of this length. */
const SIGLIP_TOKENS = 64;
/** Texts come again and again: labels of a camera, categories of a shop. */
const CACHE_BYTES = 8 * 2 ** 20;

/** CLIP, SigLIP and the like: input_ids [t, tokens], pixel_values [1, 3, h, w] -> logits_per_image [1, t]. */
export async function loadImageTextMatcher(request: LoadRequest): Promise<ImageTextMatcher> {
  const model = await openJointModel(request, 'logits_per_image');
  const isSiglip = readersIn(request).matching === 'sigmoid';
  if (isSiglip) requireMaskInput(model);
  const texts: Texts = {
    encode: createTextEncode(model, isSiglip),
    width: isSiglip ? SIGLIP_TOKENS : 0,
  };
  const logitScale = await tryLogitScale(model, texts);
  return {
    scoring: isSiglip ? 'sigmoid' : 'softmax',
    match: logitScale ? matchWithCache(model, texts, logitScale) : matchWhole(model, texts),
  };
}

/** Rows of SigLIP are padded: a graph that can't be told so gives other scores than Python does. */
function requireMaskInput({ tokenizer, takesMask }: JointModel): void {
  if (takesMask || !givesMask(tokenizer)) return;
  throw new RunError(
    'not_ready',
    "the graph has no input attention_mask, which this tokenizer gives: model_input_names of tokenizer_config.json should be ['input_ids'] if the model was trained without a mask",
  );
}

type Match = ImageTextMatcher['match'];

/** How texts become rows. */
interface Texts {
  encode(text: string): Encoding;
  /** Tokens of every row; 0: as many as the longest has. */
  width: number;
}

/** @throws RunError 422 for a text that is too long */
function createTextEncode({ tokenizer, config }: JointModel, isSiglip: boolean): (text: string) => Encoding {
  const most = isSiglip ? SIGLIP_TOKENS : (contextLengthOf(config) ?? Infinity);
  return (text) => {
    const row = tokenizer.encode(text, isSiglip ? { maxLength: most } : {});
    if (row.ids.length <= most) return row;
    throw new RunError(
      'unprocessable',
      `a label has ${row.ids.length} tokens with its template; the model takes ${most}`,
    );
  };
}

/** Texts that every tokenizer knows something of. */
const SAMPLES = ['a', 'b c', '1', 'the 2'];

async function tryLogitScale(model: JointModel, { encode, width }: Texts): Promise<LogitScale | undefined> {
  const { signal } = new AbortController();
  const image = model.imageFeeds(model.process(sampleImage(7)));
  const feeds = { ...model.textFeeds(SAMPLES.map(encode), width), ...image };
  return findLogitScale(await model.run(feeds, signal));
}

/** All texts are in a run with the image. */
function matchWhole(model: JointModel, { encode, width }: Texts): Match {
  return async (image, texts, signal) => {
    const rows = texts.map(encode);
    const prepared = await model.readImage(image, signal);
    const logits: number[] = [];
    for await (const { outputs } of model.runTexts({ rows, image: prepared, width, signal }))
      logits.push(...toLogits(outputs['logits_per_image']!));
    return Float32Array.from(logits);
  };
}

/** Only texts that are new are in a run; the graph wants one at least. */
function matchWithCache(model: JointModel, { encode, width }: Texts, { scale, bias }: LogitScale): Match {
  const cache = createByteCache<Float32Array>(
    CACHE_BYTES,
    (text, { byteLength }) => 2 * text.length + byteLength,
  );
  return async (image, texts, signal) => {
    const known = new Map(texts.map((text) => [text, cache.get(text)] as const));
    const missing = [...known.keys()].filter((text) => known.get(text) === undefined);
    const asked = missing.length > 0 ? missing : [texts[0]!];
    const rows = asked.map(encode);
    const prepared = await model.readImage(image, signal);
    let embedding: Float32Array | undefined;
    let next = 0;
    for await (const { outputs } of model.runTexts({ rows, image: prepared, width, signal })) {
      const found = embeddingsOf(outputs)!;
      embedding = found.image;
      for (const text of found.texts) {
        known.set(asked[next]!, text);
        cache.set(asked[next++]!, text);
      }
    }
    return Float32Array.from(texts, (text) => scale * dot(embedding!, known.get(text)!) + bias);
  };
}
