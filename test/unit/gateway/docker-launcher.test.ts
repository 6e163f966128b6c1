import type { Fleet, FleetServer, PreparedServer } from '../../../builder/docker/fleet.js';
import { dockerLauncher } from '../../../gateway/upstream/docker.js';
import type { ModelEntry } from '../../../gateway/catalog/entry.js';
import { entry } from '../../fakes/launcher.js';

const model = (modelId: string, id = 'sha256:one'): ModelEntry => ({
  ...entry(modelId),
  image: { id, reference: `slipway/${id}`, baked: true, device: 'cpu' as const },
});

/** An engine whose containers answer nothing: their starts are ended by the test. */
function fakeEngine({ beginFails = false } = {}) {
  const there = new Map<string, { name: string; begun?: string }>();
  /** Containers that this process is connected with. */
  const connected = new Set<string>();
  const ends = new Map<string, (reason: string) => void>();
  const fleet = {
    ensureNetwork: async () => {},
    async prepare({ name, image, labels }): Promise<PreparedServer> {
      const id = `id-${ends.size}`;
      const state: { name: string; begun?: string } = { name };
      there.set(id, state);
      connected.add(id);
      const server: FleetServer = {
        id,
        name,
        created: 0,
        image,
        labels,
        running: true,
        address: '127.0.0.1',
      };
      const abandon = () => void connected.delete(id);
      const begin = async (as: string, secrets: Record<string, string>) => {
        abandon();
        if (beginFails && name !== as) throw new Error('it has gone');
        Object.assign(state, { name: as, begun: Object.keys(secrets).join() });
      };
      return { server, begin, abandon };
    },
    list: async () =>
      [...there].map(([id, { name }]) => ({
        ...{ id, name, created: 0, image: 'sha256:one', labels: {}, running: true, address: '127.0.0.1' },
      })),
    ended: (id: string) => new Promise<string>((resolve) => ends.set(id, resolve)),
    lastLine: async () => '',
    async remove(id: string) {
      there.delete(id);
      ends.get(id)?.('was removed');
    },
  } as Partial<Fleet> as Fleet;
  return { fleet, there, ends, connected };
}

function launcherOf(engine: ReturnType<typeof fakeEngine>, standby = 4) {
  const lines: string[] = [];
  const launcher = dockerLauncher({
    ...{ fleet: engine.fleet, name: 'harbour', offline: true, standby, hub: {} },
    ...{
      proxies: {},
      tracing: { env: {}, secrets: {} },
      body: { maxBytes: undefined, maxValues: undefined },
      log: (line) => void lines.push(line),
    },
  });
  return { launcher, lines };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
const states = ({ there }: ReturnType<typeof fakeEngine>) => [...there.values()];

/** Starts it, has the caller leave, and says what was there at that moment. */
async function launchBriefly(
  launcher: ReturnType<typeof dockerLauncher>,
  engine: ReturnType<typeof fakeEngine>,
) {
  const leaves = new AbortController();
  const launched = launcher.launch(model('org/a'), leaves.signal);
  await settled();
  const seen = states(engine);
  leaves.abort(new Error('was idle'));
  await expect(launched).rejects.toThrow('was idle');
  return seen;
}

test('a launch goes on with the container that waits: it gets a name and secrets', async () => {
  const engine = fakeEngine();
  const { launcher } = launcherOf(engine);
  launcher.expect!([model('org/a'), model('org/b')]);
  await settled();
  expect(states(engine)).toEqual([
    { name: expect.stringMatching(/^slipway-harbour\.waits-org_a-[0-9a-f]{6}$/) },
    { name: expect.stringMatching(/^slipway-harbour\.waits-org_b-/) },
  ]);
  // The sweep leaves them alone.
  expect(await launcher.leftovers!()).toEqual([]);
  expect(await launchBriefly(launcher, engine)).toEqual([
    { name: expect.stringMatching(/^slipway-harbour-org_a-[0-9a-f]{6}$/), begun: 'KEY' },
    { name: expect.stringContaining('.waits-org_b-') },
  ]);
  // Nothing stays when the caller leaves and the gateway ends, nor does anything keep its process.
  await launcher.close!();
  expect([states(engine), engine.connected.size]).toEqual([[], 0]);
});

test('a container that waits with another image is not used', async () => {
  const engine = fakeEngine();
  const { launcher } = launcherOf(engine);
  launcher.expect!([model('org/a', 'sha256:old')]);
  await settled();
  const seen = await launchBriefly(launcher, engine);
  expect(seen.map(({ begun }) => begun)).toEqual(['KEY']);
  await launcher.close!();
  expect(states(engine)).toEqual([]);
});

test('one that has gone when it is needed is replaced by a new one', async () => {
  const engine = fakeEngine({ beginFails: true });
  const { launcher, lines } = launcherOf(engine);
  launcher.expect!([model('org/a')]);
  await settled();
  const seen = await launchBriefly(launcher, engine);
  expect(seen).toEqual([{ name: expect.stringMatching(/^slipway-harbour-org_a-/), begun: 'KEY' }]);
  expect(lines).toEqual([
    expect.stringMatching(/^slipway-harbour\.waits-org_a-\w+ can't be used: it has gone$/),
  ]);
});

test('with 0 none waits, and a launch makes its own', async () => {
  const engine = fakeEngine();
  const { launcher } = launcherOf(engine, 0);
  launcher.expect!([model('org/a')]);
  await settled();
  expect(states(engine)).toEqual([]);
  expect((await launchBriefly(launcher, engine)).map(({ begun }) => begun)).toEqual(['KEY']);
});

test('a container that waited for a gateway that has gone is not taken over', async () => {
  const engine = fakeEngine();
  const before = launcherOf(engine).launcher;
  before.expect!([model('org/a')]);
  await settled();
  const [left] = await launcherOf(engine).launcher.leftovers!();
  expect(left!.isOf(model('org/a'))).toBe(false);
  await left!.discard();
  expect(states(engine)).toEqual([]);
});
