import type { BenchResult } from '../../builder/bench/run.js';
import { describeWithDocker } from './support/engine.js';
import { docker } from './support/process.js';
import { openWorkshop, type Workshop } from './support/workshop.js';

describeWithDocker('a container of builder run, from its log to its end', () => {
  let workshop: Workshop;
  beforeAll(async () => void (workshop = await openWorkshop()));
  afterAll(() => workshop.close());

  test('is tested, measured, read, stopped and removed, and what is not builder’s stays', async () => {
    const { id } = workshop.hub.models.text.about;
    const json = async (...args: string[]) => {
      const { code, stdout, stderr } = await workshop.builder([...args, '--json']);
      expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
      return JSON.parse(stdout) as Record<string, unknown>;
    };
    const { container, image } = await json('run', id, '--port', '0', '--detach');
    const foreign = await docker('run', '--detach', '--env', 'KEY=k', image as string);
    try {
      const tested = await json(
        'test',
        image as string,
        '--cache',
        `${workshop.folder}/cache`,
        '--only',
        'routes,answers,after',
      );
      expect(tested).toMatchObject({ passed: true, model: id });
      expect(tested['checks']).toContainEqual(expect.objectContaining({ check: 'offline', passed: true }));

      const flags = [
        '--cache',
        `${workshop.folder}/cache`,
        '--concurrency',
        '2',
        '--requests',
        '20',
        '--warmup',
        '0',
      ];
      const { targets } = (await json('bench', image as string, ...flags)) as unknown as BenchResult;
      expect(targets[0]).toMatchObject({
        coldStartMs: expect.any(Number),
        steps: [{ requests: 20, errors: {} }],
      });
      expect(targets[0]!.steps[0]!.memoryBytes).toBeGreaterThan(20e6);

      // By its name: other files of this suite run the same model meanwhile.
      const name = (await docker('inspect', '--format', '{{.Name}}', container as string)).slice(1);
      const { log, container: found } = await json('logs', name);
      expect(log).toContain('ready');
      expect(found).toBe(name);
      expect(await json('stop', name)).toEqual({ stopped: [name], dryRun: false });
      expect(await json('rm', name)).toEqual({
        removed: [{ kind: 'container', name }],
        dryRun: false,
      });
      expect(await docker('ps', '--all', '--quiet', '--filter', `id=${container as string}`)).toBe('');
      expect(await docker('inspect', '--format', '{{.State.Running}}', foreign)).toBe('true');
      expect((await workshop.builder(['stop', foreign])).code).toBe(1);
    } finally {
      await docker('rm', '--force', '--volumes', foreign);
    }
    const removed = await json('rm', image as string);
    expect(removed).toEqual({ removed: [{ kind: 'image', name: image }], dryRun: false });
    expect((await workshop.builder(['rm', 'node:24-bookworm-slim'])).code).toBe(3);
  });
});
