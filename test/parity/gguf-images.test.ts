import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runCli } from '../../builder/cli.js';
import { readBuilderConfig } from '../../builder/config.js';
import { parseSpec } from '../../runtime/store/spec-file.js';
import { fakeDocker } from '../fakes/docker.js';
import { readGgufParts, rewritten } from '../helpers/gguf/rewrite-gguf.js';
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

/** As files are that were converted without the tokens that Gemma 3 has for images alone. */
async function withoutSoftToken(model: ZooModel): Promise<ZooModel> {
  const repo = await mkdtemp(path.join(tmpdir(), 'short-'));
  for (const name of await readdir(model.repo)) {
    const parts = await readGgufParts(path.join(model.repo, name));
    const tokens = parts.metadata['tokenizer.ggml.tokens'] as unknown as { value: string[] } | undefined;
    if (tokens)
      tokens.value = tokens.value.map((token) => (token === '<image_soft_token>' ? '<none>' : token));
    await writeFile(path.join(repo, name), rewritten(parts));
  }
  return { ...model, repo, about: { ...model.about, id: `${model.about.id}-short` } };
}

const gemma = (await zooModels([GGUF])).find(({ name }) => name === 'gemma3')!;
compareModels([await withoutSoftToken(gemma)], fetched);
