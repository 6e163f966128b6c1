import { RunError } from '../../../core/errors.js';
import type { ImageTextMatcher } from '../../../core/handles/index.js';
import type { LoadRequest } from '../../../core/load-request.js';
import { toFloat32 } from '../../sessions/tensors.js';
import { type Json, firstNumber } from '../../repository/model-folder.js';
import { openJointModel } from './joint-model.js';

/** Tokens of every text of SigLIP, which was trained on rows of this length and takes no mask. */
const SIGLIP_TOKENS = 64;

/** CLIP, SigLIP and the like: input_ids [t, tokens], pixel_values [1, 3, h, w] -> logits_per_image [1, t]. */
export async function loadImageTextMatcher(request: LoadRequest): Promise<ImageTextMatcher> {
  const model = await openJointModel(request, 'logits_per_image');
  const { config, tokenizer } = model;
  const isSiglip = String(config['model_type']).includes('siglip');
  const most = isSiglip ? SIGLIP_TOKENS : (textPositions(config) ?? Infinity);
  const encode = (text: string) => {
    const row = tokenizer.encode(text, isSiglip ? { maxLength: most } : {});
    if (row.ids.length <= most) return row;
    throw new RunError(
      'unprocessable',
      `a label has ${row.ids.length} tokens with its template; the model takes ${most}`,
    );
  };
  return {
    scoring: isSiglip ? 'sigmoid' : 'softmax',
    async match(image, texts, signal) {
      const feeds = model.textFeeds(texts.map(encode), isSiglip ? SIGLIP_TOKENS : 0);
      const picture = await model.readPicture(image, signal);
      const outputs = await model.run({ ...feeds, ...model.pictureFeeds(picture) }, signal);
      return toFloat32(outputs['logits_per_image']!);
    },
  };
}

function textPositions(config: Json): number | undefined {
  return firstNumber((config['text_config'] ?? {}) as Json, 'max_position_embeddings');
}
