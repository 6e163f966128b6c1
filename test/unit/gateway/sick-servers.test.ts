import { entry, fakeLauncher, never, pool } from '../../fakes/launcher.js';
import { waitFor } from '../../fakes/server.js';

describe('servers that are ill', () => {
  test('one that is silent at three looks in a row is replaced, whatever its calls do', async () => {
    const fake = fakeLauncher();
    const upstream = pool(fake.launcher, { probeMs: 5 });
    const held = await upstream.acquire(entry('m/a'), never);
    const [frozen] = fake.running;
    let looks = 0;
    frozen!.isAlive = async () => ++looks === 2;
    await waitFor(() => fake.running.length === 0);
    // Silent, there, silent three times.
    expect(looks).toBe(5);
    const next = await upstream.acquire(entry('m/a'), never);
    expect(fake.starts).toEqual(['m/a', 'm/a']);
    held.release();
    next.release();
    await upstream.close();
  });

  test('one that can not be stopped keeps its room, is told once and tried again, and no call goes there', async () => {
    const fake = fakeLauncher();
    const log: string[] = [];
    const upstream = pool(fake.launcher, {
      ...{ memoryGb: 1, idleMs: 1, probeMs: 5, patienceMs: 10 },
      log: (line) => void log.push(line),
    });
    (await upstream.acquire(entry('m/a'), never)).release();
    const [stuck] = fake.running;
    let [away, tries] = [true, 0];
    stuck!.stop = async () => {
      tries++;
      if (away) throw new Error('the engine is away');
      stuck!.die('stopped');
    };
    await waitFor(() => tries > 2);
    expect(upstream.status!()).toMatchObject([{ modelId: 'm/a', state: 'stopping' }]);
    const call = upstream.acquire(entry('m/a'), never);
    await waitFor(() => tries > 4);
    expect(fake.starts).toHaveLength(1);
    away = false;
    const lease = await call;
    expect(fake.starts).toHaveLength(2);
    expect(log.filter((line) => line.includes('away'))).toEqual([
      "m/a can't be stopped, which is tried again: the engine is away",
    ]);
    lease.release();
    await upstream.close();
  });
});
