import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Agent, request } from 'undici';
import {
  type Conversation,
  type ConversationOptions,
  type Question,
  startConversation,
} from '../../manifests/support/conversation.js';

const folder = mkdtempSync(path.join(tmpdir(), 'conversation-'));
const file = path.join(folder, 'answers.json');
let open: Conversation | undefined;
afterEach(() => open?.close());
afterAll(() => rmSync(folder, { recursive: true }));

const start = async (more: Partial<ConversationOptions> = {}): Promise<Conversation> =>
  (open = await startConversation({
    ...{ file, kubernetes: 'v1', judge: 'a server', accounts: { 'Bearer 1': 'admin' }, standIns: [] },
    ...more,
  }));

async function say({ url, caFile }: Conversation, method: string, at: string, body?: string) {
  const dispatcher = new Agent({ connect: { ca: readFileSync(caFile) } });
  const headers = { authorization: 'Bearer 1' };
  const answer = await request(`${url}${at}`, { method: method as 'GET', dispatcher, headers, body });
  const found = { status: answer.statusCode, body: await answer.body.json() };
  await dispatcher.close();
  return found;
}

/** A server that counts what was created. */
function counting(): { asked: Question[]; ask: NonNullable<ConversationOptions['ask']> } {
  const asked: Question[] = [];
  let created = 0;
  return {
    asked,
    async ask(question) {
      asked.push(question);
      if (question.method === 'GET') return { status: 200, body: { created } };
      if (!question.at.includes('dryRun')) created++;
      return { status: 201, warnings: ['299 - "old"'] };
    },
  };
}

beforeAll(async () => {
  const real = counting();
  const conversation = await start({ ask: real.ask });
  await say(conversation, 'GET', '/list');
  await say(conversation, 'POST', '/judge?dryRun=All', 'a manifest');
  await say(conversation, 'POST', '/create', 'a manifest of 40001');
  await say(conversation, 'POST', '/create', 'one more');
  // Reading is asked again in every state, whoever reads when.
  expect(real.asked.map(({ at }) => at)).toEqual([
    '/list',
    '/judge?dryRun=All',
    ...['/create', '/list', '/create', '/list'],
  ]);
  await conversation.close();
});

test('what was said is said again, state by state', async () => {
  const conversation = await start();
  expect(await say(conversation, 'POST', '/judge?dryRun=All', 'a manifest')).toMatchObject({ status: 201 });
  expect(await say(conversation, 'GET', '/list')).toEqual({ status: 200, body: { created: 0 } });
  await say(conversation, 'POST', '/create', 'a manifest of 40001');
  expect(await say(conversation, 'GET', '/list')).toEqual({ status: 200, body: { created: 1 } });
  await say(conversation, 'POST', '/create', 'one more');
  expect(await say(conversation, 'GET', '/list')).toEqual({ status: 200, body: { created: 2 } });
});

test('what differs from run to run has a stand-in', async () => {
  const conversation = await start({ standIns: [['52003', '40001']] });
  expect(await say(conversation, 'POST', '/create', 'a manifest of 52003')).toMatchObject({ status: 201 });
});

test.each([
  ['a byte of a manifest', {}, 'POST', '/judge?dryRun=All', 'a manifesT'],
  ['another question', {}, 'GET', '/other', undefined],
  ['another server', { judge: 'another' }, 'GET', '/list', undefined],
  ['somebody else', { accounts: {} }, 'GET', '/list', undefined],
] as const)('%s has no answer, and the remedy is named', async (_, more, method, at, body) => {
  expect(await say(await start(more), method, at, body)).toEqual({
    status: 501,
    body: { message: expect.stringContaining('"make manifests" asks one') },
  });
});

test('a state that the server was never in has no answer', async () => {
  const conversation = await start();
  expect((await say(conversation, 'POST', '/create', 'one more')).status).toBe(501);
  await say(conversation, 'POST', '/create', 'a manifest of 40001');
  expect((await say(conversation, 'POST', '/create', 'a manifest of 40001')).status).toBe(501);
});
