import { RunError } from '../../../../core/errors.js';
import { createImageProcessor } from '../../../processors/image/image-processor.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import type { FamilyFiles, ImageFamily } from './family.js';
import { sizeOfAll } from './llava.js';
import { imageToken } from './image-token.js';
import { pixelValues } from './pixel-values.js';

/** Where config.json does not say: learned queries, and edges of images and patches. */
const [QUERIES, EDGE, PATCH] = [32, 224, 14];

/** Blip2Processor's prompt: an image, even before the start token, and a text. */
const TEMPLATE = `{%- if messages | length != 1 or messages[0]['role'] != 'user' -%}
{{- raise_exception('this model reads one message of the user, with an image and a text') -}}
{%- endif -%}
{%- if messages[0]['content'] | selectattr('type', 'equalto', 'image') | list | length != 1 -%}
{{- raise_exception('this model reads one image and a text') -}}
{%- endif -%}
{{- '<image>' -}}{{- bos_token -}}
{%- for block in messages[0]['content'] -%}{%- if block['type'] == 'text' -%}{{- block['text'] -}}{%- endif -%}{%- endfor -%}`;

/**
 * BLIP-2: as many features of each image as there are learned queries.
 * @throws RunError not_ready where the processor's files have other numbers than the network: Python fails at each image
 */
export function createBlip2Family(files: FamilyFiles): ImageFamily {
  const token = imageToken(files);
  const processor = createImageProcessor(files.processing);
  const count = firstNumber(files.config, 'num_query_tokens') ?? QUERIES;
  const written = firstNumber(files.processor, 'num_query_tokens') ?? count;
  if (written !== count)
    throw new RunError(
      'not_ready',
      `processor_config.json: num_query_tokens is ${written}, and an image has ${count} features`,
    );
  if (files.tokenizer.idOf('<image>') !== token.tokenId)
    throw new RunError('not_ready', 'config.json: image_token_index is not the token <image>');
  const vision = (files.config['vision_config'] ?? {}) as Json;
  const [edges, patch] = [pairOf(vision['image_size'] ?? EDGE), pairOf(vision['patch_size'] ?? PATCH)];
  const { height, width } = sizeOfAll(processor);
  if (height !== edges[0] || width !== edges[1])
    throw new RunError('not_ready', 'preprocessor_config.json: size is not image_size of config.json');
  const patches = Math.floor(height / patch[0]) * Math.floor(width / patch[1]) + 1;
  const layout = { count, patches };
  return {
    ...{ ...token, mostPatches: patches, fromVectors: true },
    template: TEMPLATE.replace('<image>', token.placeholder),
    layout: () => layout,
    prepare(image) {
      const { values, ...edges } = processor.process(image);
      return [() => pixelValues(values, edges)];
    },
    expand: () => token.placeholder.repeat(count),
  };
}

const pairOf = (given: unknown): [number, number] =>
  (Array.isArray(given) ? given : [given, given]) as [number, number];
