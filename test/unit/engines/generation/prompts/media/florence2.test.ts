import { florenceSentence } from '../../../../../../runtime/engines/generation/prompts/media/florence2.js';

test.each([
  ['<CAPTION>', 'What does the image describe?'],
  ['<REGION_TO_OCR><loc_1><loc_2> ', 'What text is in the region <loc_1><loc_2>?'],
  ['  a cat <CAPTION_TO_PHRASE_GROUNDING>', 'Locate the phrases in the caption: a cat'],
  ['What color is it?', 'What color is it?'],
])('%s is read as %s', (text, sentence) => {
  expect(florenceSentence(text)).toBe(sentence);
});

test('a task token that takes no text stands alone', () => {
  expect(() => florenceSentence('<OD> cats')).toThrow('the task token <OD> takes no text beside it');
});
