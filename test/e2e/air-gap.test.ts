import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { freePort } from '../fakes/server.js';
import { stampedBase } from './support/base.js';
import { describeWithDocker } from './support/engine.js';
import { run } from './support/process.js';
import { openWorkshop, type Workshop } from './support/workshop.js';

/** Blocks seal, prove and start images, several times: on a busy machine for minutes. */
const BLOCK_MS = 300_000;
const WHOLE_MS = 900_000;

interface Block {
  inside: boolean;
  script: string;
}

/** The blocks of the walk-through in docs/operations/air-gap.md, in order. */
async function walkThrough(): Promise<Block[]> {
  const page = await readFile('docs/operations/air-gap.md', 'utf8');
  const blocks = [...page.matchAll(/^```sh air-gap( inside)?\n([\s\S]*?)^```$/gm)];
  return blocks.map(([, inside, script]) => ({ inside: inside !== undefined, script: script! }));
}

describeWithDocker('the walk-through into a room without a network', () => {
  let workshop: Workshop;
  let port: number;
  const names = () => {
    const { id } = workshop.hub.models.text.about;
    return { id, image: `${workshop.namespace}/${id.replace('/', '_')}` };
  };

  beforeAll(async () => {
    workshop = await openWorkshop();
    port = await freePort();
    await mkdir(path.join(workshop.folder, 'bin'));
    // `builder` as installed, but for a namespace and a base of this test's own: no other image has its layers.
    const base = await stampedBase(workshop.namespace);
    const shim = [
      '#!/bin/sh',
      `case $1 in snapshot) set -- "$@" --namespace ${workshop.namespace} --base-image ${base} ;; esac`,
      `exec '${process.execPath}' '${path.resolve('dist/builder/main.js')}' "$@"`,
    ];
    const file = path.join(workshop.folder, 'bin/builder');
    await writeFile(file, shim.join('\n'));
    await chmod(file, 0o755);
  });
  afterAll(async () => {
    await run('docker', ['rm', '--force', '--volumes', names().image.replace('/', '-')]);
    await workshop.close();
  });

  /** One block as it stands, with the names of this test for those of the page. Ends with the first line that fails. */
  async function follow({ inside, script }: Block): Promise<string> {
    const { id, image } = names();
    const mine = script
      .replaceAll('slipway/org_model', image)
      .replaceAll('org/model', id)
      .replaceAll('8080', String(port))
      .replaceAll(/--name model|(?<=docker (?:exec|rm -f) )model/g, (found) =>
        found.replace('model', image.replace('/', '-')),
      );
    const { folder, hub } = workshop;
    const env = {
      PATH: `${folder}/bin:${process.env['PATH']}`,
      HOME: path.join(folder, inside ? 'inside' : 'outside'),
      // Inside there is no hub.
      HF_ENDPOINT: inside ? 'http://127.0.0.1:9' : hub.url,
    };
    const lines = `cd '${folder}'\nset -ex\n${mine}`;
    const { code, stdout, stderr } = await run('bash', ['-c', lines], { env, timeoutMs: BLOCK_MS });
    if (code !== 0) throw new Error(`ended with ${code}:\n${stdout}\n${stderr}`);
    return stdout;
  }

  test(
    'every line works as it stands',
    async () => {
      const blocks = await walkThrough();
      expect(blocks.map(({ inside }) => inside)).toEqual([false, true, true, false, true]);
      const [prepare, start, prove, update, renew] = blocks as [Block, Block, Block, Block, Block];
      await follow(prepare);
      // What a room without a network has: none of the images, and nothing of the builder's.
      await workshop.removeImages();
      workshop.hub.requests.length = 0;
      const said = await follow(start);
      expect(said).toMatch(/"sealed": ?true/);
      await follow(prove);
      expect(workshop.hub.requests).toEqual([]);
      // Outside the base is still there.
      await stampedBase(workshop.namespace);
      await follow(update);
      workshop.hub.requests.length = 0;
      await follow(renew);
      // The signature that came with the first image is none of the update.
      const stale =
        'builder verify slipway/org_model:sealed --key release.pub --bundle model.tar.gz.sigstore.json';
      await expect(follow({ inside: true, script: stale })).rejects.toThrow(
        /signature of another image[\s\S]*is not proven: signature/,
      );
      const answer = await fetch(`http://127.0.0.1:${port}/status`);
      expect(await answer.json()).toMatchObject({ output: { revision: 'v2', sealed: true, state: 'ready' } });
      expect(workshop.hub.requests).toEqual([]);
    },
    WHOLE_MS,
  );
});
