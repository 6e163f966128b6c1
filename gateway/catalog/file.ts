import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'yaml';
import * as z from 'zod';
import { moderationFlags } from '../../runtime/dialects/moderation-flags.js';
import { isModelId } from '../../runtime/core/ids.js';
import { TASK_IDS } from '../../runtime/core/task-ids.js';
import { GatewayError } from '../errors.js';
import { followFile } from '../follow-file.js';
import { readKeyFile } from '../remote/key.js';
import { type Remote, remoteField, remoteProblem } from '../remote/remote.js';
import { MIN_RAM_GB, sortedById } from './entries.js';
import type { Catalog, ModelEntry } from './entry.js';

const address = z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, ''));

const row = z.strictObject({
  id: z.string().refine(isModelId, 'expected org/name'),
  task: z.enum(TASK_IDS),
  params: z.number().positive().nullable().default(null),
  ramRequired: z.number().positive().optional(),
  addresses: z.array(address).default([]),
  from: z.string().optional(),
  remote: remoteField.optional(),
  moderation: moderationFlags.optional(),
});

type Row = z.output<typeof row>;

const document = z.strictObject({ models: z.array(row) });

/**
 * Reads a catalogue in YAML or JSON: `models:`, a list of `id`, `task` and, as wanted, `params` (billions),
 * `ramRequired` (GB), `addresses`, `from` (a folder, relative to the file), `remote` (who else serves it) and `moderation` (labels that flag).
 * @throws GatewayError that names the file and what is wrong in it
 */
export async function readCatalogFile(file: string): Promise<ModelEntry[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new GatewayError(`the catalogue ${file} can't be read (${error.code}); give another --catalog`);
  });
  const parsed = document.safeParse(parseYaml(file, text));
  if (!parsed.success) {
    const { path: at, message } = parsed.error.issues[0]!;
    throw new GatewayError(`the catalogue ${file} is not right at ${at.join('.') || 'its top'}: ${message}`);
  }
  const entries = parsed.data.models.map((row) => entryOf(file, row));
  const duplicate = entries.find(({ modelId }, i) => entries.findIndex((e) => e.modelId === modelId) !== i);
  if (duplicate) throw new GatewayError(`the catalogue ${file} names ${duplicate.modelId} twice`);
  // A key that can't be read should be known before the first call.
  for (const { remote } of entries) if (remote?.keyFile !== undefined) await readKeyFile(remote.keyFile);
  return entries;
}

function entryOf(file: string, { id, from, ramRequired, remote, ...rest }: Row): ModelEntry {
  const resolved = (name: string) => path.resolve(path.dirname(file), name);
  const entry: ModelEntry = {
    ...rest,
    modelId: id,
    ramRequired: ramRequired ?? MIN_RAM_GB,
    figures: ramRequired === undefined ? 'assumed' : 'given',
    from: from === undefined ? undefined : resolved(from),
  };
  if (!remote) return entry;
  const { keyFile } = remote;
  return remoteEntry(file, entry, {
    ...remote,
    ...(keyFile === undefined ? {} : { keyFile: resolved(keyFile) }),
  });
}

/** @throws GatewayError for what contradicts that others serve it */
function remoteEntry(file: string, entry: ModelEntry, remote: Remote): ModelEntry {
  const { modelId, task, from, addresses, figures, ramRequired } = entry;
  const own = from === undefined ? addresses.length > 0 && 'addresses' : 'from';
  const problem = own
    ? { field: own, fault: 'is for models that are not remote' }
    : remoteProblem(remote, task);
  if (problem)
    throw new GatewayError(
      `the catalogue ${file} is not right at ${modelId}: ${problem.field}: ${problem.fault}`,
    );
  // It takes no memory here.
  return { ...entry, remote, figures: 'given', ramRequired: figures === 'given' ? ramRequired : 0 };
}

function parseYaml(file: string, text: string): unknown {
  try {
    return parse(text, { maxAliasCount: 20 });
  } catch (error) {
    throw new GatewayError(`the catalogue ${file} is no YAML: ${(error as Error).message.split('\n')[0]}`);
  }
}

/** A catalogue that follows its file. A change that can't be read is logged, and the last valid state stays. */
export async function fileCatalog(file: string, log: (line: string) => void): Promise<Catalog> {
  let entries = sortedById(await readCatalogFile(file));
  const reload = async () => {
    entries = sortedById(await readCatalogFile(file));
    log(`the catalogue has ${entries.size} models`);
  };
  const close = followFile(file, reload, { log, after: 'the last one that was right stays' });
  return {
    list: () => [...entries.values()],
    find: (modelId) => entries.get(modelId),
    reload,
    close,
  };
}
