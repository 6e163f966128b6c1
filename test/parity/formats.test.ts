import { jest } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { join } from 'node:path';
import request from 'supertest';
import { loadTokenizer } from '../../runtime/engines/tokenizers/tokenizer.js';
import { ROOT } from '../fakes/server.js';
import { fixtureSpec, type ServedModel, serveInline } from './load.js';
import { HONOURED, REFUSED } from './schema-cases.js';

/** A random model under schemas of all kinds: what ends is valid by another validator, and what can't be honoured is refused. */

jest.setTimeout(1_800_000);

/** How many answers; 2,000 take minutes. */
const GENERATIONS = Number(process.env['GENERATIONS'] ?? 200);
const ROWS = 8;
const DIR = join(ROOT, 'test/fixtures/zoo/chat/llama-chat/repo');

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);

interface Choice {
  message: { content: string };
  finish_reason: string;
}

let served: ServedModel;
let logit_bias: Record<string, number>;

beforeAll(async () => {
  served = await serveInline(fixtureSpec('chat', 'llama-chat', DIR), DIR);
  // Random models seldom end texts and lists.
  const tokenizer = await loadTokenizer(DIR);
  const ids = ['"', ']', '}', '"}', ']}']
    .map((text) => tokenizer.idOf(text))
    .filter((id) => id !== undefined);
  logit_bias = Object.fromEntries(ids.map((id) => [id, 3]));
});
afterAll(() => served.stop());

async function ask(schema: object, more: object): Promise<{ status: number; body: Record<string, unknown> }> {
  const response_format = { type: 'json_schema', json_schema: { name: 'a', schema } };
  const messages = [{ role: 'user', content: `hi ${JSON.stringify(more)}` }];
  const body = { model: 'm', messages, response_format, max_tokens: 100, logit_bias, ...more };
  return request(served.app).post('/v1/chat/completions').send(body);
}

async function choicesOf(schema: object, more: object): Promise<Choice[]> {
  const { status, body } = await ask(schema, more);
  expect([schema, status, body['error']]).toEqual([schema, 200, undefined]);
  return body['choices'] as Choice[];
}

/** Greedy and sampled, one row and eight. */
const WAYS: ((schema: object, seed: number) => Promise<Choice[]>)[] = [
  (schema, seed) => choicesOf(schema, { temperature: 0, seed }),
  (schema, seed) => choicesOf(schema, { temperature: 1, seed }),
  (schema, seed) => choicesOf(schema, { temperature: 1.5, seed, n: ROWS }),
  async (schema, seed) => {
    const rows = Array.from({ length: ROWS }, (_, i) =>
      choicesOf(schema, { temperature: 0, user: `${seed} ${i}` }),
    );
    return (await Promise.all(rows)).flat();
  },
];

test(`${GENERATIONS} answers are valid`, async () => {
  const schemas = HONOURED.map((schema) => ({ schema, valid: ajv.compile(schema) }));
  const ended = new Set<object>();
  let made = 0;
  for (let round = 0; made < GENERATIONS; round++) {
    const { schema, valid } = schemas[round % schemas.length]!;
    // Each schema in each way, in turn.
    const way = WAYS[(round + Math.floor(round / schemas.length)) % WAYS.length]!;
    for (const { message, finish_reason } of await way(schema, round)) {
      made += 1;
      if (finish_reason !== 'stop') continue;
      ended.add(schema);
      const value: unknown = JSON.parse(message.content);
      expect([schema, message.content, valid(value), valid.errors]).toEqual([
        schema,
        message.content,
        true,
        null,
      ]);
    }
  }
  expect(made).toBeGreaterThanOrEqual(GENERATIONS);
  // Most of them end, so that what is checked is not nothing.
  expect(ended.size).toBeGreaterThan(HONOURED.length / 2);
});

test.each(REFUSED)('%j is refused by name', async (schema, keyword) => {
  const { status, body } = await ask(schema, {});
  expect([status, body['error']]).toEqual([
    400,
    expect.objectContaining({ message: expect.stringContaining(keyword), param: 'response_format' }),
  ]);
});
