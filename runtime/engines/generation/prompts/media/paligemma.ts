import type { FamilyFiles, ImageFamily } from './family.js';
import { createLlavaFamily } from './llava.js';

/** Images, the start token, the text and a line break: PaliGemmaProcessor's prompt. */
const TEMPLATE = `{%- if messages | length != 1 or messages[0]['role'] != 'user' -%}
{{- raise_exception('this model reads one message of the user, with images and a text') -}}
{%- endif -%}
{%- if messages[0]['content'] | selectattr('type', 'equalto', 'image') | list | length == 0 -%}
{{- raise_exception('this model reads no text without an image') -}}
{%- endif -%}
{%- for block in messages[0]['content'] -%}{%- if block['type'] == 'image' -%}{{- '<image>' -}}{%- endif -%}{%- endfor -%}
{{- bos_token -}}
{%- for block in messages[0]['content'] -%}{%- if block['type'] == 'text' -%}{{- block['text'] -}}{%- endif -%}{%- endfor -%}
{{- '\n' -}}`;

/** PaliGemma: images before a text; positions count from 1. */
export function createPaliGemmaFamily(files: FamilyFiles): ImageFamily {
  const family = createLlavaFamily(files, 0);
  return {
    ...family,
    ahead: 'prompt',
    template: TEMPLATE.replace('<image>', family.placeholder),
    positions: (length) => ({ axes: [Array.from({ length }, (_, place) => place + 1)], shift: 1 }),
  };
}
