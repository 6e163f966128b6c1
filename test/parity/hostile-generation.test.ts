import type { TaskId } from '../../runtime/core/task-ids.js';
import { fixtureSpec, type ServedModel, serveInline } from './load.js';
import { zooModel } from './zoo.js';

async function serve(task: TaskId, name: string): Promise<ServedModel> {
  const { about, repo } = await zooModel(task, name);
  return serveInline(fixtureSpec(task, about.id, repo), repo);
}

const same = (length: number, id = 20) => new Array<number>(length).fill(id);

const PARAMS: [string, Record<string, unknown>, status?: number][] = [
  ['16 stop strings of 100 kB', { stop: Array.from({ length: 16 }, (_, i) => 'a'.repeat(1e5 - i)) }],
  ['stop strings that look like patterns', { stop: ['(a+)+$', '\\', '[', '.*'.repeat(1000)] }],
  ['no end of tokens, but of time', { max_new_tokens: 1e9, max_time: 0.3, num_beams: 1, eos_token_id: 1e6 }],
  ['no end of tokens in beams', { max_new_tokens: 1e9, max_time: 0.3, num_beams: 4, eos_token_id: 1e6 }],
  [
    '100,000 bad words',
    { bad_words_ids: Array.from({ length: 1e5 }, (_, i) => [i % 300, (i * 7) % 300, 5]) },
  ],
  ['a bad word of 100,000 tokens', { bad_words_ids: [same(1e5)] }],
  ['half a million suppressed tokens', { suppress_tokens: Array.from({ length: 5e5 }, (_, i) => i + 100) }],
  ['a million suppressed tokens', { suppress_tokens: Array.from({ length: 1e6 }, (_, i) => i + 100) }, 413],
  ['everything suppressed', { suppress_tokens: Array.from({ length: 1000 }, (_, i) => i) }],
  [
    'everything suppressed, in beams',
    { suppress_tokens: Array.from({ length: 1000 }, (_, i) => i), num_beams: 3 },
  ],
  [
    'everything suppressed, drawn',
    { suppress_tokens: Array.from({ length: 1000 }, (_, i) => i), do_sample: true },
    422,
  ],
  ['a bias beyond the vocabulary', { sequence_bias: [[[2 ** 50], 1]] }, 422],
  ['a logit bias beyond the vocabulary', { logit_bias: { 9999999: 1 } }, 422],
  ['a logit bias on what is no number', { logit_bias: { '1e3': 1 } }, 400],
  ['n-grams of a billion', { no_repeat_ngram_size: 1e9, encoder_no_repeat_ngram_size: 1e9 }],
  ['at least a billion tokens', { min_new_tokens: 1e9, max_new_tokens: 20 }],
  ['100,000 end tokens', { eos_token_id: Array.from({ length: 1e5 }, (_, i) => i + 1000) }],
  [
    '100,000 end tokens, in beams',
    { eos_token_id: Array.from({ length: 1e5 }, (_, i) => i + 1000), num_beams: 2 },
  ],
  ['an endless decay', { exponential_decay_length_penalty: [0, 1e300] }],
  ['the smallest temperature', { temperature: 5e-324, do_sample: true }],
  ['the largest temperature', { temperature: 1.7e308, do_sample: true }],
  ['the smallest penalty', { repetition_penalty: 5e-324, do_sample: true }],
  ['the largest penalty', { repetition_penalty: 1.7e308, do_sample: true }],
  ['an endless length penalty', { length_penalty: 1.7e308, num_beams: 3 }],
  ['16 answers', { num_return_sequences: 16, do_sample: true, num_beams: 1 }],
  ['rules that leave nothing', { top_p: 0, top_k: 1, min_p: 1, typical_p: 0, do_sample: true }],
];

const TEXTS: [string, string, status?: number[]][] = [
  ['empty', ''],
  ['lone surrogates', '\ud800 a \udc00'],
  ['special tokens only', '</s><pad><unk><s><|begin_of_text|><|end_of_text|>'.repeat(200), [200, 422]],
  ['a million blanks', ' '.repeat(1e6), [200, 422]],
  ['one word of a million letters', 'a'.repeat(1e6), [200, 422]],
  ['a million characters of words', 'library opens '.repeat(7e4), [200, 422]],
  ['control characters', '\u0000\u0007\ufeff\u202e'.repeat(100), [200, 422]],
];

describe.each<[TaskId, string]>([
  ['text-generation', 'llama'],
  ['text2text-generation', 't5'],
  ['translation', 'marian'],
])('%s survives', (task, name) => {
  let served: ServedModel;
  beforeAll(async () => {
    served = await serve(task, name);
  });
  afterAll(() => served.stop());

  async function ask(body: object, allowed: number[]): Promise<void> {
    const answer = await served.run(body);
    const { status, body: envelope } = answer;
    const reason = allowed.includes(status) ? '' : `${status}: ${envelope.error}`;
    expect(reason).toBe('');
    expect(envelope.output === null).toBe(status !== 200);
  }

  test.each(PARAMS)(
    '%s',
    (_why, params, status = 200) =>
      ask({ text: 'The library.', params: { max_new_tokens: 12, ...params } }, [status]),
    20_000,
  );

  test.each(TEXTS)(
    'a text: %s',
    (_why, text, allowed = [200]) => ask({ text, params: { max_new_tokens: 5 } }, allowed),
    20_000,
  );
});

describe('chat survives', () => {
  let served: ServedModel;
  beforeAll(async () => {
    served = await serve('chat', 'llama-chat');
  });
  afterAll(() => served.stop());

  test('10,000 messages', async () => {
    const messages = Array.from({ length: 10_001 }, (_, i) => ({
      role: i % 2 ? 'assistant' : 'user',
      content: `no ${i}`,
    }));
    const { status } = await served.run({ messages, params: { max_new_tokens: 2 } });
    expect([200, 422]).toContain(status);
  }, 30_000);

  test('a role and a content of special tokens', async () => {
    const messages = [
      { role: '<|eot_id|>', content: '<|start_header_id|>assistant<|end_header_id|>'.repeat(50) },
    ];
    const { status } = await served.run({ messages, params: { max_new_tokens: 2 } });
    expect([200, 422]).toContain(status);
  });
});
