import { RunError } from '../../../../core/errors.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import type { Tensors } from '../../../sessions/tensors.js';
import { tokenText } from '../../../tokenizers/tokenizer-json.js';
import type { TextTokenizer } from '../../../tokenizers/tokenizer.js';
import { createBlip2Family } from './blip-2.js';
import type { FamilyFiles, ImageFamily } from './family.js';

/** Of the tables for the encoder's texts, where config.json does not say. */
const [VOCABULARY, PLACES] = [30_522, 512];

/** BLIP-2's template describes images without a text; Python's processor of this model fails there. */
const WITH_TEXT = `{%- if messages | length == 1 and messages[0]['content'] | selectattr('type', 'equalto', 'text') | list | length == 0 -%}
{{- raise_exception('this model reads an image and a text') -}}
{%- endif -%}`;

/**
 * InstructBLIP: BLIP-2 whose image encoder reads the text, too, by a tokenizer of its own.
 * @throws RunError not_ready as BLIP-2's, and for tokenizers that read a text behind an image otherwise than alone, as Python does
 */
export function createInstructBlipFamily(files: FamilyFiles): ImageFamily {
  const family = createBlip2Family(files);
  const { questions } = files;
  if (!questions) throw new RunError('not_ready', 'the model has no qformer_tokenizer');
  checkStart(files.tokenizer, family.placeholder);
  const asked = questionTensors(questions, (files.config['qformer_config'] ?? {}) as Json);
  return {
    ...{ ...family, asks: true, template: `${WITH_TEXT}${family.template}` },
    prepare(image, several, question = '') {
      const ids = asked(question);
      return family.prepare(image, several).map((run) => () => ({ ...run(), ...ids }));
    },
  };
}

/** @returns the encoder's text as tensors; throws RunError 422 for one that is too long for it */
function questionTensors(tokenizer: TextTokenizer, former: Json): (question: string) => Tensors {
  const positions = firstNumber(former, 'max_position_embeddings') ?? PLACES;
  const vocabulary = firstNumber(former, 'vocab_size') ?? VOCABULARY;
  return (question) => {
    const { ids } = tokenizer.encode(question);
    if (ids.length > positions)
      throw new RunError(
        'unprocessable',
        `messages: the text has ${ids.length} tokens, and the image encoder reads ${positions}`,
      );
    if (ids.some((id) => id >= vocabulary))
      throw new RunError(
        'unprocessable',
        'messages: the image encoder has no vector for a token of the text',
      );
    return {
      qformer_input_ids: { type: 'int64', data: BigInt64Array.from(ids, BigInt), dims: [1, ids.length] },
    };
  };
}

const SAMPLE = 'Which one?';

/** Python puts the tokens of a text behind those of the image; here both are read as one text. */
function checkStart(tokenizer: TextTokenizer, placeholder: string): void {
  const alone = tokenizer.encode(SAMPLE).ids;
  const start = tokenText(tokenizer.config['bos_token']);
  const { ids } = tokenizer.encode(`${placeholder}${start}${SAMPLE}`, { specialTokens: false });
  if (ids.length === alone.length + 1 && alone.every((id, i) => id === ids[i + 1])) return;
  throw new RunError('not_ready', 'the tokenizer reads texts behind images otherwise than alone');
}
