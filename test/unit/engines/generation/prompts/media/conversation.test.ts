import {
  asTemplateReads,
  mediaOf,
} from '../../../../../../runtime/engines/generation/prompts/media/conversation.js';
import type { AudioFamily } from '../../../../../../runtime/engines/generation/prompts/media/family.js';

const bytes = Uint8Array.of(1);
const talk = [
  { role: 'system', content: 'be brief' },
  {
    role: 'user',
    content: [
      { type: 'audio' as const, bytes },
      { type: 'text' as const, text: 'what?' },
    ],
  },
];
const audio = { placeholder: '<|audio|>' } as AudioFamily;

test('media come in their order', () => {
  expect(mediaOf(talk)).toEqual([{ kind: 'audio', bytes }]);
});

test('a template that knows of audio gets blocks', () => {
  const source = "{% for c in m['content'] %}{% if c['type'] == 'audio' %}";
  expect(asTemplateReads(talk, source, { audio })).toEqual([
    { role: 'system', content: [{ type: 'text', text: 'be brief' }] },
    { role: 'user', content: [{ type: 'audio' }, { type: 'text', text: 'what?' }] },
  ]);
});

test('another one gets their placeholder as a text', () => {
  expect(asTemplateReads(talk, "{{ m['content'] }}", { audio })[1]!.content).toEqual([
    { type: 'text', text: '<|audio|>' },
    { type: 'text', text: 'what?' },
  ]);
});
