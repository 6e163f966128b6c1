import { RunError } from '../../../core/errors.js';
import type { ImageTextMatcher } from '../../../core/handles/index.js';
import type { LoadRequest } from '../../../core/load-request.js';
import { firstNumber, type Json } from '../../repository/model-folder.js';
import { type Tensors, toFloat32 } from '../../sessions/tensors.js';
import type { Encoding } from '../../tokenizers/tokenizer.js';
import { samplePicture } from '../image/sample-picture.js';
import { type JointModel, openJointModel } from './joint-model.js';
import {
  createEmbeddingCache,
  dot,
  embeddingsOf,
  findLogitScale,
  type LogitScale,
} from './text-embeddings.js';

/** Tokens of every text of SigLIP, which was trained on rows of this length and takes no mask. */
const SIGLIP_TOKENS = 64;
/** Texts come again and again: labels of a camera, categories of a shop. */
const CACHE_BYTES = 8 * 2 ** 20;

/** CLIP, SigLIP and the like: input_ids [t, tokens], pixel_values [1, 3, h, w] -> logits_per_image [1, t]. */
export async function loadImageTextMatcher(request: LoadRequest): Promise<ImageTextMatcher> {
  const model = await openJointModel(request, 'logits_per_image');
  const isSiglip = String(model.config['model_type']).includes('siglip');
  const encode = createTextEncode(model, isSiglip);
  const textFeeds = (texts: readonly string[]) =>
    model.textFeeds(texts.map(encode), isSiglip ? SIGLIP_TOKENS : 0);
  const logitScale = await tryLogitScale(model, textFeeds);
  return {
    scoring: isSiglip ? 'sigmoid' : 'softmax',
    match: logitScale ? matchWithCache(model, { textFeeds, logitScale }) : matchWhole(model, textFeeds),
  };
}

type Match = ImageTextMatcher['match'];
type TextFeeds = (texts: readonly string[]) => Tensors;

/** @throws RunError 422 for a text that is too long */
function createTextEncode({ tokenizer, config }: JointModel, isSiglip: boolean): (text: string) => Encoding {
  const most = isSiglip ? SIGLIP_TOKENS : (textPositions(config) ?? Infinity);
  return (text) => {
    const row = tokenizer.encode(text, isSiglip ? { maxLength: most } : {});
    if (row.ids.length <= most) return row;
    throw new RunError(
      'unprocessable',
      `a label has ${row.ids.length} tokens with its template; the model takes ${most}`,
    );
  };
}

function textPositions(config: Json): number | undefined {
  return firstNumber((config['text_config'] ?? {}) as Json, 'max_position_embeddings');
}

/** Texts that every tokenizer knows something of. */
const SAMPLES = ['a', 'b c', '1', 'the 2'];

async function tryLogitScale(model: JointModel, textFeeds: TextFeeds): Promise<LogitScale | undefined> {
  const { signal } = new AbortController();
  const picture = model.pictureFeeds(model.process(samplePicture(7)));
  return findLogitScale(await model.run({ ...textFeeds(SAMPLES), ...picture }, signal));
}

/** All texts and the picture in one run. */
function matchWhole(model: JointModel, textFeeds: TextFeeds): Match {
  return async (image, texts, signal) => {
    const feeds = textFeeds(texts);
    const picture = await model.readPicture(image, signal);
    const outputs = await model.run({ ...feeds, ...model.pictureFeeds(picture) }, signal);
    return toFloat32(outputs['logits_per_image']!);
  };
}

/** Only texts that are new are in the run; the graph wants one at least. */
function matchWithCache(
  model: JointModel,
  { textFeeds, logitScale: { scale, bias } }: { textFeeds: TextFeeds; logitScale: LogitScale },
): Match {
  const cache = createEmbeddingCache(CACHE_BYTES);
  return async (image, texts, signal) => {
    const known = new Map(texts.map((text) => [text, cache.get(text)] as const));
    const missing = [...known.keys()].filter((text) => known.get(text) === undefined);
    const asked = missing.length > 0 ? missing : [texts[0]!];
    const feeds = textFeeds(asked);
    const picture = await model.readPicture(image, signal);
    const found = embeddingsOf(await model.run({ ...feeds, ...model.pictureFeeds(picture) }, signal))!;
    for (const [i, text] of asked.entries()) {
      known.set(text, found.texts[i]);
      cache.set(text, found.texts[i]!);
    }
    return Float32Array.from(texts, (text) => scale * dot(found.image, known.get(text)!) + bias);
  };
}
