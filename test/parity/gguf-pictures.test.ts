import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runCli } from '../../builder/cli.js';
import { readBuilderConfig } from '../../builder/config.js';
import { parseSpec } from '../../runtime/store/spec-file.js';
import { readFile } from 'node:fs/promises';
import { fakeDocker } from '../fakes/docker.js';
import { sink } from '../unit/builder/support.js';
import { compareModels } from './compare-models.js';
import { GGUF, type ZooModel, zooModels } from './zoo.js';

/** What `builder fetch` puts into a folder. */
async function fetched({ about, repo }: ZooModel) {
  const [out, err] = [sink(), sink()];
  const [to, cache] = await Promise.all(
    ['to', 'cache'].map((name) => mkdtemp(path.join(tmpdir(), `${name}-`))),
  );
  const args = ['fetch', about.id, '--from', repo, '--to', to!, '--cache', cache!, '--json'];
  const deps = {
    config: readBuilderConfig({}),
    docker: fakeDocker(),
    packageRoot: path.resolve('.'),
    version: '1',
  };
  const code = await runCli(args, { ...deps, stdout: out.stream, stderr: err.stream });
  expect({ code, stderr: err.text() }).toMatchObject({ code: 0 });
  const { folder, spec } = JSON.parse(out.text()) as { folder: string; spec: string };
  return { dir: folder, spec: parseSpec(await readFile(spec, 'utf8')) };
}

// Without --task and --engine: the tower is found, and what reads it.
compareModels(await zooModels([GGUF]), fetched);
