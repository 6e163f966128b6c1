import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { plannedModel, serveInline } from './load.js';
import type { ZooModel } from './zoo.js';

interface Tensor {
  shape: readonly number[];
  data_offsets: [start: number, end: number];
}

type Header = Record<string, Tensor>;

/**
 * Rewrites the header of a file of safetensors, to one that is no longer.
 * @param change gets the bytes of all tensors, which it may change, and gives the new header
 */
export async function rewriteTensors(
  path: string,
  change: (header: Header, data: Buffer) => Header,
): Promise<void> {
  const file = await readFile(path);
  const length = Number(file.readBigUInt64LE());
  const header = JSON.parse(file.toString('utf8', 8, 8 + length)) as Header;
  file.write(JSON.stringify(change(header, file.subarray(8 + length))).padEnd(length), 8, 'utf8');
  await writeFile(path, file);
}

/** What a reference model in this folder makes of its first case. */
async function answerOf({ task, about, cases }: ZooModel, folder: string) {
  const { spec, dir } = await plannedModel(task as TaskId, about.id, folder);
  const served = await serveInline(spec, dir);
  try {
    return await served.run(cases[0]!.request);
  } finally {
    served.stop();
    await rm(dir, { recursive: true });
  }
}

/** The answers of a reference model, and of a copy of it that is rewritten. */
export async function answersOf(model: ZooModel, rewrite: (folder: string) => Promise<void>) {
  const folder = await mkdtemp(join(tmpdir(), 'rewritten-'));
  try {
    await cp(model.repo, folder, { recursive: true });
    await rewrite(folder);
    return { own: await answerOf(model, model.repo), rewritten: await answerOf(model, folder) };
  } finally {
    await rm(folder, { recursive: true });
  }
}
