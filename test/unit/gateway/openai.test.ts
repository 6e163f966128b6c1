import { blockOf } from '../../../runtime/dialects/openai/chat.js';
import { generationOf } from '../../../runtime/dialects/fields.js';

test.each([
  ['http://host/a.png', { type: 'image', url: 'http://host/a.png' }],
  ['HTTPS://host/a.png', { type: 'image', url: 'HTTPS://host/a.png' }],
  ['data:image/png;base64,AAAA', { type: 'image', base64: 'data:image/png;base64,AAAA' }],
])('an image of a message becomes a block of the task: %s', (url, block) => {
  expect(blockOf({ type: 'image_url', image_url: { url } })).toEqual(block);
});

test('so do audio and videos', () => {
  const input_audio = { data: 'AAAA', format: 'wav' };
  expect(blockOf({ type: 'input_audio', input_audio })).toEqual({ type: 'audio', base64: 'AAAA' });
  const url = 'https://host/a.mp4';
  expect(blockOf({ type: 'video_url', video_url: { url } })).toEqual({ type: 'video', url });
});

test.each([
  ['nothing', {}, {}],
  ['nulls', { temperature: null, top_p: null, n: null, stop: null }, {}],
  ['a temperature', { temperature: 0.5 }, { do_sample: true, temperature: 0.5 }],
  ['temperature 0', { temperature: 0, top_p: 0.5 }, { do_sample: false, top_p: 0.5 }],
  ['top_p', { top_p: 0.5 }, { do_sample: true, top_p: 0.5 }],
  ['all of top_p', { top_p: 1 }, { top_p: 1 }],
  ['several answers', { n: 2 }, { do_sample: true, num_return_sequences: 2 }],
  ['a length', { max_tokens: 3 }, { max_new_tokens: 3 }],
  ['a seed alone', { seed: 3 }, { seed: 3 }],
])('%s: draws only where that is asked for', (_name, given, params) => {
  expect(generationOf(given)).toEqual(params);
});
