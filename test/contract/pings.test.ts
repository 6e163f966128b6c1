import { jest } from '@jest/globals';
import { RunError } from '../../runtime/core/errors.js';
import type { TaskId } from '../../runtime/core/task-ids.js';
import type { ModelService } from '../../runtime/http/service.js';
import { mounted, MOUNTS } from '../fakes/dialects.js';
import { closeServers, secret } from '../fakes/gateway.js';

/** Time passes here by hand, and only for what repeats. */
beforeEach(() => {
  jest.useFakeTimers({
    doNotFake: [
      ...([
        'setTimeout',
        'clearTimeout',
        'setImmediate',
        'clearImmediate',
        'nextTick',
        'queueMicrotask',
      ] as const),
      ...(['Date', 'performance', 'hrtime'] as const),
    ],
  });
});
afterEach(async () => {
  jest.useRealTimers();
  await closeServers();
});

const messages = [{ role: 'user', content: 'hi' }];
const chat = { model: 'test/model', messages, stream: true };

const ROUTES: [string, TaskId, object][] = [
  ['/v1/chat/completions', 'chat', chat],
  ['/v1/completions', 'text-generation', { model: 'test/model', prompt: 'hi', stream: true }],
  ['/v1/messages', 'chat', { ...chat, max_tokens: 5 }],
  ['/v1/responses', 'chat', { model: 'test/model', input: 'hi', stream: true }],
];

/** A model that reads its prompt until `go` is called, or fails then. */
function slow(failure?: RunError) {
  let go = () => {};
  let begun = () => {};
  const isReading = new Promise<void>((resolve) => (begun = resolve));
  const wait = new Promise<void>((resolve) => (go = resolve));
  const run: ModelService['run'] = async (input, { onDelta, onUsage }) => {
    // Anthropic's prompts are counted first.
    const given = input as { params?: { count_only?: boolean }; messages?: unknown };
    if (given.params?.count_only !== true) {
      begun();
      await wait;
      if (failure) throw failure;
      onDelta?.({ text: 'hello' });
    }
    onUsage?.({ tokensIn: 1, tokensOut: 1, finish: ['stop'] });
    return given.messages ? { role: 'assistant', content: 'hello' } : 'hello';
  };
  return { run, isReading, go: () => go() };
}

const send = (url: string, body: object, accept = '*/*') =>
  fetch(url, {
    method: 'POST',
    headers: { authorization: secret, 'content-type': 'application/json', accept },
    body: JSON.stringify(body),
  });

describe.each(MOUNTS)('while a prompt is read, %s', (mount) => {
  test.each(ROUTES)('%s sends comments, then the answer', async (path, task, body) => {
    const model = slow();
    const answered = send((await mounted(mount, { task, run: model.run })) + path, body);
    await model.isReading;
    jest.advanceTimersByTime(15_000);
    const answer = await answered;
    expect(answer.status).toBe(200);
    jest.advanceTimersByTime(15_000);
    model.go();
    const text = await answer.text();
    expect(text.match(/^: ping$/gm)!.length).toBeGreaterThanOrEqual(2);
    expect(text.indexOf('hello')).toBeGreaterThan(text.lastIndexOf(': ping'));
  });

  test.each(ROUTES)(
    '%s keeps its status for what fails before that, and tells later failures by an event',
    async (path, task, body) => {
      const early = slow(new RunError('unprocessable', 'the prompt is too odd'));
      const first = send((await mounted(mount, { task, run: early.run })) + path, body);
      await early.isReading;
      early.go();
      // Anthropic knows no 422.
      expect([400, 422]).toContain((await first).status);

      const late = slow(new RunError('unprocessable', 'the prompt is too odd'));
      const second = send((await mounted(mount, { task, run: late.run })) + path, body);
      await late.isReading;
      jest.advanceTimersByTime(15_000);
      const answer = await second;
      expect(answer.status).toBe(200);
      late.go();
      let text = '';
      const read = (async () => {
        for await (const chunk of answer.body!) text += Buffer.from(chunk).toString();
      })();
      // The connection is cut, so that nobody takes the stream for whole.
      await expect(read).rejects.toThrow();
      expect(text).toMatch(/: ping[\s\S]*the prompt is too odd/);
    },
  );
});

test('POST /run does so for events', async () => {
  const model = slow();
  const base = await mounted('container', { task: 'text-generation', run: model.run });
  const answered = send(`${base}/run`, { text: 'hi', stream: true }, 'text/event-stream');
  await model.isReading;
  jest.advanceTimersByTime(30_000);
  model.go();
  expect(await (await answered).text()).toMatch(/^: ping\n\n: ping\n\ndata: \{"text":"hello"\}/);
});

test('plain text and lines of JSON have no place for comments', async () => {
  const model = slow();
  const base = await mounted('container', { task: 'chat', run: model.run });
  const answered = send(`${base}/api/chat`, chat);
  await model.isReading;
  jest.advanceTimersByTime(60_000);
  model.go();
  expect(await (await answered).text()).not.toContain('ping');
});
