import { createExpectation } from '../../../gateway/upstream/expectation.js';
import { createReplica, type Replica } from '../../../gateway/upstream/replica.js';
import { createStandby, type Spare } from '../../../gateway/upstream/standby.js';
import { entry } from '../../fakes/launcher.js';

interface FakeSpare extends Spare {
  modelId: string;
  end(): void;
}

/** Spares that are made at once, or when the test says so. */
function standbyOf(most: number, { held = false } = {}) {
  const made: string[] = [];
  const there = new Set<FakeSpare>();
  const gates: ((error?: Error) => void)[] = [];
  const lines: string[] = [];
  const standby = createStandby<FakeSpare>({
    ...{ most, log: (line: string) => void lines.push(line) },
    kindOf: ({ modelId, ramRequired }) => `${modelId} ${ramRequired}`,
    async make({ modelId }) {
      made.push(modelId);
      if (held)
        await new Promise<void>((done, fail) => gates.push((error) => (error ? fail(error) : done())));
      let end!: () => void;
      const ended = new Promise<void>((resolve) => (end = resolve));
      const discard = async () => void there.delete(spare);
      const spare: FakeSpare = { modelId, ended, end, discard };
      there.add(spare);
      return spare;
    },
  });
  return { standby, made, there, gates, lines, names: () => [...there].map(({ modelId }) => modelId) };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('the first of those that may be called have spares; others lose theirs', async () => {
  const { standby, names } = standbyOf(2);
  standby.want([entry('a/a'), entry('b/b'), entry('c/c')]);
  await settled();
  expect(names()).toEqual(['a/a', 'b/b']);
  standby.want([entry('c/c'), entry('b/b'), entry('a/a')]);
  await settled();
  expect(names()).toEqual(['b/b', 'c/c']);
  await standby.close();
  expect(names()).toEqual([]);
});

test('a spare is taken once, and only by a model that it was made for', async () => {
  const { standby, names } = standbyOf(2);
  standby.want([entry('a/a'), entry('b/b', 1)]);
  await settled();
  expect((await standby.take(entry('a/a')))?.modelId).toBe('a/a');
  expect(await standby.take(entry('a/a'))).toBeUndefined();
  expect(await standby.take(entry('b/b', 2))).toBeUndefined();
  await settled();
  // The caller's own is left, the one of another kind is not.
  expect(names()).toEqual(['a/a']);
});

test('a spare that has ended is taken away, and made again when it is wanted', async () => {
  const { standby, made, there } = standbyOf(1);
  standby.want([entry('a/a')]);
  await settled();
  [...there][0]!.end();
  await settled();
  expect([there.size, await standby.take(entry('a/a'))]).toEqual([0, undefined]);
  standby.want([entry('a/a')]);
  await settled();
  expect(made).toEqual(['a/a', 'a/a']);
});

test('who comes while a spare is made waits for it, and for no other', async () => {
  const { standby, gates, names, made } = standbyOf(2, { held: true });
  standby.want([entry('a/a'), entry('b/b')]);
  await settled();
  const taken = standby.take(entry('a/a'));
  expect(await standby.take(entry('b/b'))).toBeUndefined();
  gates[0]!();
  expect((await taken)?.modelId).toBe('a/a');
  await settled();
  expect([made, names()]).toEqual([['a/a'], ['a/a']]);
});

test('one that is made when nobody wants it any more is taken away, also at the end', async () => {
  const { standby, gates, names } = standbyOf(2, { held: true });
  standby.want([entry('a/a')]);
  await settled();
  standby.want([]);
  standby.want([entry('b/b')]);
  gates[0]!();
  await settled();
  expect(names()).toEqual([]);
  const closed = standby.close();
  gates[1]!();
  await closed;
  expect(names()).toEqual([]);
});

test('what cannot be made is said once, and tried again when it is wanted again', async () => {
  const { standby, gates, lines, made } = standbyOf(1, { held: true });
  for (const turn of [0, 1]) {
    standby.want([entry('a/a')]);
    await settled();
    gates[turn]!(new Error('no engine'));
    await settled();
  }
  expect(await standby.take(entry('a/a'))).toBeUndefined();
  expect([made.length, lines]).toEqual([2, ['nothing can be started ahead for a/a: no engine']]);
});

test('models without a server may be called next, what was called last first, and none that is too large', () => {
  const replicas = new Set<Replica>([createReplica(entry('run/s'), 0)]);
  const models = ['never/one', 'old/one', 'new/one', 'run/s'].map((modelId) => entry(modelId));
  const catalog = () => [...models, entry('fits/exactly', 2), entry('large/one', 3)];
  const expectation = createExpectation({ catalog, replicas, memoryGb: 2 });
  for (const modelId of ['new/one', 'old/one', 'new/one']) expectation.called(modelId);
  expect(expectation.models().map(({ modelId }) => modelId)).toEqual([
    ...['new/one', 'old/one', 'never/one', 'fits/exactly'],
  ]);
});
