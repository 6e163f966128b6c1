import { TASK_IDS, type TaskId } from '../../../runtime/core/task-ids.js';
import { taskOf } from '../../../runtime/tasks/registry.js';
import { JSON_TYPE, secret } from '../../fakes/gateway.js';
import { misfitOf } from '../../fakes/hosted-document.js';
import type { ZooGateway } from '../../fakes/zoo-gateway.js';
import type { ZooCase } from '../../parity/zoo.js';
import { difference } from '../../parity/difference.js';

/**
 * Clients that know the published interface and nothing else, as the official ones behave on the wire: every task, a
 * real gateway, real models, and the answers of the Python libraries.
 */
export function publishedClients(zooOf: () => ZooGateway): void {
  let zoo: ZooGateway;
  beforeAll(() => void (zoo = zooOf()));

  interface Reply {
    error: string | null;
    output: unknown;
  }

  /** The Python client: never looks at a status, reads `error`. */
  async function python(task: TaskId, body: object, authorization = `Key ${secret}`): Promise<Reply> {
    const answer = await fetch(`${zoo.base}/zoo/${task}`, {
      method: 'POST',
      headers: { lang: 'python', authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await answer.json()) as Reply;
  }

  const JAVASCRIPT = {
    lang: 'javascript',
    Authorization: `Key ${secret}`,
    'content-type': 'application/json',
  };

  /** The JavaScript client's first call: what task has the model? */
  async function taskByList(id: string): Promise<TaskId> {
    const answer = await fetch(`${zoo.base}/list/models?modelId=${id}`, { headers: JAVASCRIPT });
    return ((await answer.json()) as { output: { task: TaskId }[] }).output[0]!.task;
  }

  /** The JavaScript client's second: the user's input goes under `input`; without one it posts `{}`. */
  async function javascript(task: TaskId, body: object): Promise<Response> {
    const answer = await fetch(`${zoo.base}/zoo/${task}`, {
      ...{ method: 'POST', headers: JAVASCRIPT },
      body: JSON.stringify(body),
    });
    if (!answer.ok && answer.headers.get('content-type') !== JSON_TYPE) throw new Error('not the envelope');
    return answer;
  }

  const replyOf = async (answer: Response) => (await answer.json()) as Reply;

  /** The main field alone, where a task has one. */
  function shorthand({ text, messages, base64, ...others }: Record<string, unknown>): unknown[] {
    const { params: _, ...more } = others;
    if (Object.keys(more).length > 0) return [];
    if (Array.isArray(messages)) return [messages];
    return [text ?? base64];
  }

  describe.each(TASK_IDS.map((task) => [task]))('%s', (task) => {
    const theCase = (): ZooCase => zoo.models.get(task)!.cases.find(({ expect_error }) => !expect_error)!;
    const wrong = (output: unknown) => difference(output, theCase().expect, theCase().compare);

    /** Clients stream media with `json: false`; both values mean the same from them. */
    async function mediaAsTheyAre(): Promise<void> {
      for (const flags of [{ json: true }, { json: false }, { stream: true, json: false }]) {
        const answer = await javascript(task, { ...theCase().request, ...flags });
        const type = answer.headers.get('content-type')!;
        expect(type).toMatch(new RegExp(`^${taskOf(task).makes!}/`));
        const bytes = Buffer.from(await answer.arrayBuffer());
        expect(await wrong(`data:${type};base64,${bytes.toString('base64')}`)).toBeNull();
      }
    }

    test('is what the list says', async () => {
      expect(await taskByList(`zoo/${task}`)).toBe(task);
      // A client joins its filters with a second question mark.
      const both = `${zoo.base}/list/models?task=${task}?modelId=zoo/${task}`;
      expect((await replyOf(await fetch(both, { headers: JAVASCRIPT }))).output).toHaveLength(1);
    });

    test.each([secret, `Key ${secret}`, `Bearer ${secret}`])(
      'named keys, as Python posts them: %#',
      async (key) => {
        const { error, output } = await python(task, { ...theCase().request, stream: false }, key);
        expect([error, await wrong(output)]).toEqual([null, null]);
        expect(misfitOf(`${task}.output`, output)).toBeNull();
      },
    );

    test('the object under `input`', async () => {
      const { params, ...input } = theCase().request;
      const answer = await javascript(task, { input, ...(params ? { params } : {}) });
      expect(answer.headers.get('content-type')).toBe(JSON_TYPE);
      const { error, output } = await replyOf(answer);
      expect([error, await wrong(output)]).toEqual([null, null]);
    });

    test('the text, address or messages under `input`', async () => {
      const { params } = theCase().request;
      for (const input of shorthand(theCase().request)) {
        const { error, output } = await replyOf(
          await javascript(task, { input, ...(params ? { params } : {}) }),
        );
        expect([error, await wrong(output)]).toEqual([null, null]);
      }
    });

    test('`json` says whether media come as they are, and changes nothing elsewhere', async () => {
      if (taskOf(task).makes) return mediaAsTheyAre();
      for (const json of [true, false]) {
        const { error, output } = await replyOf(await javascript(task, { ...theCase().request, json }));
        expect([error, await wrong(output)]).toEqual([null, null]);
        const other = await python(task, { ...theCase().request, stream: false, json });
        expect([other.error, await wrong(other.output)]).toEqual([null, null]);
      }
    });

    test('`stream` gives text in pieces, or JSON where the task has none', async () => {
      const answer = await javascript(task, { ...theCase().request, stream: true });
      if (!taskOf(task).streams) {
        expect(await wrong((await replyOf(answer)).output)).toBeNull();
        return;
      }
      expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
      const { text } = theCase().request;
      const known = theCase().expect as string | { content: string };
      const whole = typeof known === 'string' ? known : known.content;
      expect(await answer.text()).toBe(task === 'text-generation' ? whole.slice(String(text).length) : whole);
    });

    test('`{}` is refused in the envelope, by the name of what is missing', async () => {
      // There it asks for an image.
      if (taskOf(task).modality === 'none') return;
      for (const body of [{}, { stream: false }, { input: {} }, { input: null }, { unknown: 1 }]) {
        const answer = await javascript(task, body);
        expect([answer.status, answer.headers.get('content-type')]).toEqual([400, JSON_TYPE]);
        const { error, output } = await replyOf(answer);
        expect([error, output]).toEqual([expect.stringMatching(/required|needs/), null]);
      }
    });
  });

  test('chat takes one string for a message', async () => {
    const input = 'Tell me a story.';
    const { params } = zoo.models.get('chat')!.cases[0]!.request;
    const { output } = await replyOf(await javascript('chat', { input, params }));
    const messages = [{ role: 'user', content: input }];
    expect(output).toEqual((await python('chat', { messages, params })).output);
  });

  test('an image is taken under any of its names', async () => {
    const { request } = zoo.models.get('image-classification')!.cases[0]!;
    const { output } = await python('image-classification', request);
    const url = request['base64'] as string;
    const bare = url.slice(url.indexOf(',') + 1);
    for (const body of [{ image: url }, { input: { image: url } }, { base64: bare }, { input: bare }]) {
      expect(await python('image-classification', body)).toEqual({ error: null, output });
    }
  });

  test('what a client is told of costs and tokens', async () => {
    const request = { text: 'Once upon a time', params: { max_new_tokens: 3 } };
    const { headers } = await javascript('text-generation', request);
    expect(headers.get('inference-meter')).toBe('micro-lm');
    expect(headers.get('inference-tokens-out')).toBe('3');
    expect(headers.get('inference-finish-reason')).toBe('length');
    expect(Number(headers.get('inference-tokens-in'))).toBeGreaterThan(3);
    const embedding = await javascript('sentence-similarity', { input: 'Once upon a time' });
    expect(Number(embedding.headers.get('inference-tokens-in'))).toBeGreaterThan(3);
    expect(embedding.headers.get('inference-tokens-out')).toBeNull();
  });
}
