import type { Progress } from '../../../runtime/core/progress.js';
import { createEngineClient } from '../../../runtime/worker/client.js';
import type { FromEngine } from '../../../runtime/worker/protocol.js';

/** An engine that answers each run with one piece of text, where it is asked for, and the whole. */
const engine = () =>
  createEngineClient(({ onMessage }) => ({
    pid: undefined,
    kill: () => {},
    send(message) {
      if (message.type !== 'run') return;
      const { id, deltas } = message;
      const piece: FromEngine[] = deltas ? [{ type: 'delta', id, delta: { text: 'piece' } }] : [];
      const answers: FromEngine[] = [...piece, { type: 'done', id, output: deltas }];
      setImmediate(() => answers.forEach(onMessage));
    },
  }));

test('text as it comes is sent to those who stream, and only to them', async () => {
  const [{ signal }, input] = [new AbortController(), { media: undefined } as never];
  const pieces: string[] = [];
  const streamed = engine().run(input, {
    signal,
    onDelta: (delta) => pieces.push('text' in delta ? delta.text : ''),
  });
  await expect(streamed).resolves.toBe(true);
  expect(pieces).toEqual(['piece']);
  await expect(engine().run(input, { signal })).resolves.toBe(false);
});

test('steps are told to whoever asked for the work, as they come', async () => {
  const client = createEngineClient(({ onMessage }) => ({
    pid: undefined,
    kill: () => {},
    send(message) {
      if (message.type !== 'run') return;
      const { id } = message;
      const answers: FromEngine[] = [
        { type: 'step', id, progress: { step: id, steps: 9 } },
        { type: 'done', id, output: id },
      ];
      setImmediate(() => answers.forEach(onMessage));
    },
  }));
  const { signal } = new AbortController();
  const input = { media: undefined } as never;
  const told: Progress[][] = [[], []];
  const runs = told.map((list) => client.run(input, { signal, onStep: (progress) => list.push(progress) }));
  await Promise.all(runs);
  expect(told).toEqual([[{ step: 1, steps: 9 }], [{ step: 2, steps: 9 }]]);
});

test('an engine that has died answers nobody any more, and says so', async () => {
  let die!: (reason: string) => void;
  const client = createEngineClient(({ onExit }) => {
    die = onExit;
    return { pid: undefined, kill: () => {}, send: () => {} };
  });
  const { signal } = new AbortController();
  const underWay = client.run({ media: undefined } as never, { signal });
  die('was ended by SIGSEGV');
  const crashed = { code: 'engine_crashed', message: 'the model process was ended by SIGSEGV; try again' };
  await expect(underWay).rejects.toMatchObject(crashed);
  await expect(client.run({ media: undefined } as never, { signal })).rejects.toMatchObject(crashed);
});

test('rows of runs are told as they are reported', () => {
  const told: unknown[] = [];
  let report!: (message: FromEngine) => void;
  createEngineClient(
    ({ onMessage }) => {
      report = onMessage;
      return { pid: undefined, kill: () => {}, send: () => {} };
    },
    (counts) => told.push(counts),
  );
  report({ type: 'rows', counts: [[4, 2]] });
  expect(told).toEqual([[[4, 2]]]);
});
