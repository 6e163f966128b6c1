import type { Head } from '../../../runtime/core/handles/index.js';
import { modelTypeOf } from '../../../runtime/hub-config/json.js';
import type { ExportRecipe, SampleInput, Sizes } from '../types.js';
import { chatImages } from './chat-images.js';
import { type Json, number, numbersNamed } from './config.js';
import { PROBES, ROW, TRACED } from './decoders.js';

const TOKENS: readonly Sizes[] = [
  { rows: 1, length: 9 },
  { rows: 3, length: 16 },
];

type Recipes = Readonly<Record<string, Omit<ExportRecipe, 'modelType'>>>;

/**
 * Chats about images, as three graphs with the names of transformers.js: the table of tokens, what makes features of one image,
 * and the decoder over vectors.
 * @param processing preprocessor_config.json
 * @returns undefined for other heads, a text for what can't be exported
 */
export function chatRecipes(head: Head, config: Json, processing: Json): Recipes | string | undefined {
  if (head !== 'media-chat') return undefined;
  const images = chatImages(modelTypeOf(config) ?? '', config, processing);
  if (typeof images === 'string') return images;
  const token = number(config['image_token_id']) ?? number(config['image_token_index']) ?? images.token;
  const ids = token === undefined ? undefined : tokensOf(config, token);
  if (!ids || token === undefined) return 'config.json says no vocab_size, or no token of images';
  const { edges, tiles } = images;
  const more = { ...(edges !== undefined && { edges }), ...(tiles && { tiles }) };
  const shared = { class: 'AutoModelForImageTextToText', config: {}, mayMiss: [] };
  return {
    embed_tokens: {
      ...{ ...shared, part: 'embed', outputs: ['inputs_embeds'] },
      ...{ inputs: { input_ids: ids }, free: ROW, traced: TRACED, probes: TOKENS },
    },
    vision_encoder: {
      ...{ ...shared, part: 'image', outputs: ['image_features'], inputs: images.inputs, free: images.free },
      ...{ traced: images.traced, probes: images.probes, ...more },
    },
    decoder_model_merged: {
      ...{ ...shared, part: 'decode', padding: 'left', outputs: ['logits'] },
      inputs: { input_ids: ids, attention_mask: { kind: 'mask', axes: ROW }, ...images.inputs },
      ...{ free: ROW, traced: TRACED, probes: PROBES },
      ...{ images: Object.keys(images.inputs), token, image: images.traced, ...more },
    },
  };
}

/** @param token no text holds it */
function tokensOf(config: Json, token: number): SampleInput | undefined {
  const text = (config['text_config'] ?? {}) as Json;
  const all = { ...text, ...config };
  const vocabulary = number(text['vocab_size']) ?? number(config['vocab_size']);
  if (vocabulary === undefined || vocabulary < 8) return undefined;
  return {
    ...{ kind: 'tokens', axes: ROW, low: Math.floor(vocabulary / 4), high: vocabulary },
    ...{
      avoid: [...new Set([...numbersNamed(all, /_token_(?:id|index)$/), token])],
      fixed: [],
      pad: number(all['pad_token_id']) ?? 0,
    },
  };
}
