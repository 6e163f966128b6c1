import { RunError } from '../../../../core/errors.js';
import { type CanvasProcessor, createWholeProcessor } from '../../../processors/image/got-ocr2.js';
import { torchResizer } from '../../../processors/image/resizer.js';
import { checkTorchSettings } from '../../../processors/image/torch-resize.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import type { FamilyFiles, ImageFamily } from './family.js';
import { imageToken } from './image-token.js';
import { pixelValues } from './pixel-values.js';

/** Features of an image, whatever the files say. */
const FEATURES = 256;
/** Where the files do not say. */
const [EDGE, BICUBIC] = [1024, 3];

/** GotOcr2Processor's prompt: pages of one document, and what is asked of them. */
const TEMPLATE = `{%- if messages | length != 1 or messages[0]['role'] != 'user' -%}
{{- raise_exception('this model reads one message of the user, with images and a text') -}}
{%- endif -%}
{%- set pages = messages[0]['content'] | selectattr('type', 'equalto', 'image') | list -%}
{%- if pages | length == 0 -%}
{{- raise_exception('this model reads no text without an image') -}}
{%- endif -%}
{{- '<|im_start|>system\\nYou should follow the instructions carefully and explain your answers in detail.<|im_end|>' -}}
{{- '<|im_start|>user\\n<img>' -}}
{%- for block in messages[0]['content'] -%}{%- if block['type'] == 'image' -%}{{- '<imgpad>' -}}{%- endif -%}{%- endfor -%}
{{- '</img>\\n' -}}
{%- set texts = messages[0]['content'] | selectattr('type', 'equalto', 'text') | list -%}
{%- if texts | length == 0 -%}
{{- ' OCR across multi pages: ' if pages | length > 1 else ' OCR: ' -}}
{%- endif -%}
{%- for block in texts -%}{{- block['text'] -}}{%- endfor -%}
{{- '<|im_end|><|im_start|>assistant\\n' -}}`;

/**
 * GOT-OCR 2: images of one size, which are pages of one document.
 * @throws RunError not_ready where the files have other sizes than the network: Python fails at each image
 */
export function createGotOcr2Family(files: FamilyFiles): ImageFamily {
  const family = wholeFamily(files, createWholeProcessor(files.processing));
  const { count } = family.layout({ height: 1, width: 1 });
  if (count !== FEATURES)
    throw new RunError('not_ready', `config.json: an image becomes ${count} features, not ${FEATURES}`);
  return { ...family, template: TEMPLATE.replaceAll('<imgpad>', family.placeholder) };
}

/** PP-Chart2Table: the same, whose chat template writes a token for each feature. @throws as `createGotOcr2Family` */
export function createPpChart2TableFamily(files: FamilyFiles): ImageFamily {
  const size = { height: EDGE, width: EDGE };
  // Only transformers 5 has its class, which resizes as PyTorch does.
  const settings = checkTorchSettings({ size, resample: BICUBIC, ...files.processing });
  const whole = createWholeProcessor(settings, torchResizer(settings));
  const family = wholeFamily(files, whole);
  return { ...family, surrounded: family.expand(family.layout(size)) };
}

function wholeFamily(files: FamilyFiles, whole: CanvasProcessor): ImageFamily {
  const token = imageToken(files);
  const vision = (files.config['vision_config'] ?? {}) as Json;
  const edge = firstNumber(vision, 'image_size') ?? EDGE;
  const side = Math.floor(edge / (firstNumber(vision, 'patch_size') ?? 16));
  const count = Math.ceil(Math.ceil(side / 2) / 2) ** 2;
  if (whole.height !== edge || whole.width !== edge)
    throw new RunError('not_ready', 'preprocessor_config.json: size is not image_size of config.json');
  const layout = { count, patches: side ** 2 };
  return {
    ...{ ...token, mostPatches: layout.patches },
    layout: () => layout,
    prepare: (image) => whole.process(image).map((values) => () => pixelValues(values(), whole)),
    expand: () => token.placeholder.repeat(count),
  };
}
