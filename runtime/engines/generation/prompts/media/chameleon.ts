import { RunError } from '../../../../core/errors.js';
import { cellOf } from '../../../../hub-config/image-edges.js';
import { createImageProcessor } from '../../../processors/image/image-processor.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import type { TextTokenizer } from '../../../tokenizers/tokenizer.js';
import type { FamilyFiles, ImageFamily } from './family.js';
import { sizeOfAll } from './llava.js';
import { namedToken, requireNamedToken } from './named-token.js';
import { pixelValues } from './pixel-values.js';

/** Where the file of the image processor does not say. */
const USUAL = {
  ...{
    size: { shortest_edge: 512 },
    do_center_crop: true,
    crop_size: { height: 512, width: 512 },
    resample: 1,
  },
  ...{ rescale_factor: 0.0078, image_mean: [1, 1, 1], image_std: [1, 1, 1] },
};
/** Tokens of an image where the processor's file does not say. */
const TOKENS = 1024;

/** Texts and images as they stand in one message of the user. */
const TEMPLATE = `{%- if messages | length != 1 or messages[0]['role'] != 'user' -%}
{{- raise_exception('this model reads one message of the user') -}}
{%- endif -%}
{{- FIRST -}}
{%- for block in messages[0]['content'] -%}
{{- IMAGE if block['type'] == 'image' else block['text'] -}}
{%- endfor -%}`;

/**
 * Chameleon: each cell of an image is a feature; a token that parts texts stands behind the whole prompt.
 * @throws RunError not_ready where the files disagree: Python fails at each image
 */
export function createChameleonFamily({
  config,
  processing,
  processor,
  tokenizer,
}: FamilyFiles): ImageFamily {
  const named = (name: string, usual: string) => namedToken(tokenizer, name) ?? usual;
  const placeholder = named('image_token', '<image>');
  const tokenId = tokenizer.idOf(placeholder);
  if (tokenId === undefined || ((config['vocabulary_map'] ?? {}) as Json)['<image>'] !== tokenId)
    throw new RunError('not_ready', `config.json: vocabulary_map does not have ${placeholder} as <image>`);
  const images = createImageProcessor({
    ...USUAL,
    ...processing,
    image_processor_type: 'CLIPImageProcessor',
  });
  const { height, width } = sizeOfAll(images);
  const cell = cellOf((config['vq_config'] ?? {}) as Json, 5);
  const count = Math.floor(height / cell) * Math.floor(width / cell);
  const written = firstNumber(processor, 'image_seq_length') ?? TOKENS;
  if (count !== written)
    throw new RunError(
      'not_ready',
      `processor_config.json: image_seq_length is ${written}, and an image has ${count} features`,
    );
  const [begin, end] = [named('boi_token', '<racm3:break>'), named('eoi_token', '<eoss>')];
  const parting = requireNamedToken(tokenizer, 'sep_token');
  const quoted = (text: string) => JSON.stringify(text);
  return {
    ...{ placeholder, tokenId, mostPatches: count },
    template: TEMPLATE.replace('FIRST', () => quoted(firstOf(tokenizer))).replace('IMAGE', () =>
      quoted(placeholder),
    ),
    begin: (text) => text + parting,
    layout: () => ({ count, patches: count }),
    prepare(image) {
      const { values, ...edges } = images.process(image);
      return [() => pixelValues(values, edges)];
    },
    expand: () => `${begin}${placeholder.repeat(count)}${end}`,
  };
}

/** What the tokenizer puts before each text. @throws RunError not_ready for one that puts something behind it as well */
function firstOf(tokenizer: TextTokenizer): string {
  const [own, around] = [tokenizer.encode('a').ids, tokenizer.specialCount(1)];
  if (around === 0) return '';
  const first = tokenizer.tokenOf(own[0]!);
  if (around === 1 && first !== undefined && first === namedToken(tokenizer, 'bos_token')) return first;
  throw new RunError('not_ready', 'tokenizer.json: it puts more than the start token around a text');
}
