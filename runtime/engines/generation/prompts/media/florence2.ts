import { RunError } from '../../../../core/errors.js';
import { strip } from '../../../chat-templates/jinja/strings.js';

/** Florence2Processor's sentences for its task tokens. */
const ALONE: readonly (readonly [token: string, sentence: string])[] = [
  ['<OCR>', 'What is the text in the image?'],
  ['<OCR_WITH_REGION>', 'What is the text in the image, with regions?'],
  ['<CAPTION>', 'What does the image describe?'],
  ['<DETAILED_CAPTION>', 'Describe in detail what is shown in the image.'],
  ['<MORE_DETAILED_CAPTION>', 'Describe with a paragraph what is shown in the image.'],
  ['<OD>', 'Locate the objects with category name in the image.'],
  ['<DENSE_REGION_CAPTION>', 'Locate the objects in the image, with their descriptions.'],
  ['<REGION_PROPOSAL>', 'Locate the region proposals in the image.'],
];

/** The rest of the text goes between the two parts of the sentence. */
const WITH_INPUT: readonly (readonly [token: string, before: string, after: string])[] = [
  ['<CAPTION_TO_PHRASE_GROUNDING>', 'Locate the phrases in the caption: ', ''],
  ['<REFERRING_EXPRESSION_SEGMENTATION>', 'Locate ', ' in the image with mask'],
  ['<REGION_TO_SEGMENTATION>', 'What is the polygon mask of region ', ''],
  ['<OPEN_VOCABULARY_DETECTION>', 'Locate ', ' in the image.'],
  ['<REGION_TO_CATEGORY>', 'What is the region ', '?'],
  ['<REGION_TO_DESCRIPTION>', 'What does the region ', ' describe?'],
  ['<REGION_TO_OCR>', 'What text is in the region ', '?'],
];

/**
 * What Florence-2 reads in place of a text with a task token; other texts stay as they are.
 * @throws RunError 422 a token that takes no text, with text beside it
 */
export function florenceSentence(text: string): string {
  const alone = ALONE.find(([token]) => text.includes(token));
  if (alone && text !== alone[0])
    throw new RunError('unprocessable', `the task token ${alone[0]} takes no text beside it`);
  const sentence = alone?.[1] ?? text;
  const found = WITH_INPUT.find(([token]) => sentence.includes(token));
  if (!found) return sentence;
  const [token, before, after] = found;
  return before + strip(sentence.replaceAll(token, '')) + after;
}
