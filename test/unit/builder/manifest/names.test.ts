import { dnsName, isDnsLabel, labelValue } from '../../../../builder/manifest/names.js';

const LONG = `${'a'.repeat(90)}/${'b'.repeat(90)}`;
const IDS = [
  'openai-community/gpt2',
  'Qwen/Qwen2.5-0.5B-Instruct',
  'Qwen/Qwen2_5-0.5B-Instruct',
  'a-b/c',
  'a/b-c',
  'a.b/c',
  'a_b/c',
  'gpt2',
  '0xide/1model',
  'm-0xide/1model',
  '_x/_y_',
  'org-/name.',
  LONG,
  `${LONG}b`,
];

describe('names of a model in clusters', () => {
  test('are plain where nothing is lost, and have a hash where something is', () => {
    expect(dnsName('openai-community/gpt2')).toBe('openai-community--gpt2');
    expect(dnsName('Org/Model')).toBe('org--model');
    expect(dnsName('Qwen/Qwen2.5-0.5B')).toMatch(/^qwen--qwen2-5-0-5b-[0-9a-f]{6}$/);
  });

  test.each(IDS)('%s gives legal ones', (id) => {
    expect(isDnsLabel(dnsName(id))).toBe(true);
    expect(dnsName(id).length).toBeLessThanOrEqual(52);
    expect(labelValue(id)).toMatch(/^[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?$/);
  });

  test('no two models meet in one', () => {
    expect(new Set(IDS.map(dnsName)).size).toBe(IDS.length);
    expect(new Set(IDS.map(labelValue)).size).toBe(IDS.length);
  });

  test('of other places are checked', () => {
    for (const bad of ['', 'A', 'a.b', '1a', 'a-', '-a', 'a'.repeat(64), 'a\n'])
      expect(isDnsLabel(bad)).toBe(false);
  });
});
