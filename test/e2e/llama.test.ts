import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { convertToGguf } from '../fakes/gguf/convert.js';
import { describeWithDocker } from './support/engine.js';
import { docker } from './support/process.js';
import { openWorkshop, type Workshop } from './support/workshop.js';

const CHAT = 'test/fixtures/zoo-weights/chat/qwen2-f16-2shards';
const BUILD_MS = 10 * 60_000;

interface Bom {
  components: { name: string; group?: string; licenses?: unknown[] }[];
}

describeWithDocker('an image of a repository of GGUF, computed by llama.cpp', () => {
  let workshop: Workshop;
  beforeAll(async () => void (workshop = await openWorkshop()));
  afterAll(() => workshop.close());

  test(
    'is sealed, has no ONNX Runtime, and answers as the reference does within the memory that was predicted',
    async () => {
      const from = path.join(workshop.folder, 'gguf');
      await mkdir(from);
      await writeFile(path.join(from, 'tiny-F32.gguf'), convertToGguf(path.join(CHAT, 'repo'), 'F32'));
      const flags = ['--engine', 'llama', '--from', from];
      const plan = await workshop.builder(['plan', 'org/tiny-GGUF', ...flags, '--json']);
      const { devices } = JSON.parse(plan.stdout) as { devices: { cpu: { memory: { limitBytes: number } } } };
      const image = await workshop.build('org/tiny-GGUF', ...flags, '--bake');
      const sealed = await workshop.snapshot(image);
      const inside = (...command: string[]) =>
        docker('run', '--rm', '--network', 'none', '--entrypoint', command[0]!, sealed, ...command.slice(1));
      expect((await inside('ls', '/server/node_modules')).split('\n')).toEqual([
        '@koromix',
        '@node-llama-cpp',
        'koffi',
      ]);
      const bom = JSON.parse(await inside('cat', '/server/sealed/sbom.cdx.json')) as Bom;
      const names = bom.components.map(({ group, name }) => (group ? `${group}/${name}` : name));
      expect(names).toEqual(expect.arrayContaining(['koffi', `@node-llama-cpp/linux-${process.arch}`]));
      expect(await inside('cat', '/server/node_modules/@node-llama-cpp/LICENSE.llama.cpp')).toContain(
        'The ggml authors',
      );
      const memory = `${Math.ceil(devices.cpu.memory.limitBytes / 1024)}k`;
      const container = await workshop.start(sealed, [
        ...['--network', 'bridge', '--read-only', '--cap-drop', 'ALL', '--cpus', '1'],
        ...['--memory', memory, '--memory-swap', memory],
      ]);
      await container.ready();
      const cases = JSON.parse(await readFile(path.join(CHAT, 'cases.json'), 'utf8')) as {
        request: object;
        expect: object;
      }[];
      for (const { request, expect: wanted } of cases)
        expect(await container.run(request)).toEqual({
          status: 200,
          envelope: { error: null, output: wanted },
        });
    },
    BUILD_MS,
  );
});
