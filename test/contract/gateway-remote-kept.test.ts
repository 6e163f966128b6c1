import { createDispatcher } from '../../runtime/network/dispatcher.js';
import { DIRECT } from '../../runtime/network/outgoing-settings.js';
import { remoteField } from '../../gateway/remote/remote.js';
import { remoteUpstream } from '../../gateway/remote/upstream.js';
import { TASK_IDS } from '../../runtime/core/task-ids.js';
import { readsMedia } from '../../runtime/tasks/reads-media.js';
import { TASKS } from '../../runtime/tasks/registry.js';
import { closeServers } from '../fakes/gateway.js';
import { entry, never } from '../fakes/launcher.js';

afterEach(closeServers);

const remote = remoteField.parse({
  ...{ kind: 'openai', url: 'http://127.0.0.1:9', model: 'gpt-x', limits: { concurrent: 1 } },
});
const modelOf = (id: string) => ({ ...entry(id), remote });

function upstream() {
  const catalog = new Set(['org/a', 'org/b', 'org/c']);
  let opened = 0;
  const remotes = remoteUpstream({
    openDispatcher: () => {
      opened++;
      return createDispatcher(DIRECT);
    },
    isRemote: (id) => catalog.has(id),
    log: () => {},
  });
  return { remotes, catalog, opened: () => opened };
}

test('connections to providers are opened with the first call, once', async () => {
  const idle = upstream();
  await idle.remotes.close();
  expect(idle.opened()).toBe(0);
  const { remotes, opened } = upstream();
  for (const id of ['org/a', 'org/b', 'org/a']) (await remotes.acquire(modelOf(id), never)).release();
  expect(opened()).toBe(1);
  await remotes.close();
});

test('what is kept of a model that has left the catalogue is forgotten; of the others it stays', async () => {
  const { remotes, catalog } = upstream();
  // Each holds the one place that its limits give.
  await remotes.acquire(modelOf('org/a'), never);
  await remotes.acquire(modelOf('org/b'), never);
  catalog.delete('org/a');
  (await remotes.acquire(modelOf('org/c'), never)).release();
  catalog.add('org/a');
  await expect(remotes.acquire(modelOf('org/b'), never)).rejects.toMatchObject({ code: 'rate_limited' });
  (await remotes.acquire(modelOf('org/a'), never)).release();
  await remotes.close();
});

test('tasks that make media from a text read none', () => {
  const reading = TASK_IDS.filter((id) => readsMedia(TASKS[id]));
  expect(reading).toEqual(
    expect.arrayContaining(['image-text-to-text', 'video-text-to-text', 'depth-estimation']),
  );
  for (const id of [
    'text-to-speech',
    'text-to-image',
    'text-to-video',
    'unconditional-image-generation',
    'chat',
  ])
    expect(reading).not.toContain(id);
});
