import type { ModelSpec } from '../runtime/core/spec.js';
import { outgoingFetch } from '../runtime/network/outgoing-fetch.js';
import { folderSource } from '../runtime/store/folder.js';
import { StoreError } from '../runtime/store/errors.js';
import { hubAddress } from '../runtime/store/hub-address.js';
import type { HubOptions } from '../runtime/store/hub-fetch.js';
import { hubSource } from '../runtime/store/hub.js';
import type { ModelSource } from '../runtime/store/source.js';
import type { BuilderConfig } from './config.js';
import { PINNED } from './export/versions.js';
import type { CommandDeps } from './deps.js';
import { modelAddress, type SourceFlags } from './options.js';
import { openLayered } from '../runtime/store/layered.js';
import { type ModelPlan, planModel } from './plan/index.js';
import { keptSource } from './plan/kept-source.js';
import type { Report } from './report.js';

export interface DecideOptions {
  id: string;
  flags: SourceFlags;
  report: Report;
}

/**
 * Reads the repository's listing and small files, and chooses task, engine, weight format and files. If the hub does not
 * answer, uses their copies in the cache.
 */
export async function planFor(
  { id: address, flags, report }: DecideOptions,
  deps: CommandDeps,
): Promise<ModelPlan> {
  const { id, file = flags.file } = modelAddress(address);
  const { source, name } = planSource(flags, deps, report.note);
  // A folder holds the adapter alone.
  const bases = flags.from === undefined ? source : baseSource(flags, deps, report.note);
  const { revision, task, dtype, bits, engine, weights, ignoreConfig, mmproj } = flags;
  const exports = { choice: flags.export ?? 'auto', versions: PINNED };
  return report.step(`Read ${id} from ${name}`, () =>
    planModel({
      id,
      revision,
      task,
      dtype,
      bits,
      engine,
      weights,
      ignoreConfig,
      file,
      mmproj,
      source,
      bases,
      exports,
    }),
  );
}

interface NamedSource {
  source: ModelSource;
  /** For messages; has no password. */
  name: string;
}

/** The source for planning a model. @param note called when the cache is used instead of the hub */
export function planSource(flags: SourceFlags, deps: CommandDeps, note: (line: string) => void): NamedSource {
  const { from, hub } = flags;
  if (from !== undefined) return { source: folderSource(from), name: from };
  const { config } = deps;
  const endpoint = hub ?? config.endpoint;
  const openHub = (patient: boolean) =>
    hubSource({ ...hubOptions(endpoint, config), ...(patient ? {} : IMPATIENT) });
  const { offline } = config;
  return {
    source: keptSource({ hub: openHub, cache: cacheFolder(flags, deps), offline, note }),
    name: offline ? 'the cache' : hubAddress(endpoint).url,
  };
}

/** The hub, for the base models of adapters. */
export function baseSource(flags: SourceFlags, deps: CommandDeps, note: (line: string) => void): ModelSource {
  return planSource({ ...flags, from: undefined }, deps, note).source;
}

/** Limits for a hub that the cache can replace. */
const IMPATIENT = { attempts: 1, firstByteMs: 10_000 };

/** Where a model's files come from: those of an adapter's base from the hub, whatever the others come from. */
export function fileSource(
  flags: SourceFlags,
  deps: CommandDeps,
  { base }: Pick<ModelSpec, 'base'>,
): Pick<ModelSource, 'open'> {
  const own = ownFiles(flags, deps);
  return base ? openLayered(own, () => ownFiles({ ...flags, from: undefined }, deps), base) : own;
}

function ownFiles({ from, hub }: SourceFlags, { config }: CommandDeps): Pick<ModelSource, 'open'> {
  if (from !== undefined) return folderSource(from);
  if (!config.offline) return hubSource(hubOptions(hub ?? config.endpoint, config));
  const open = async () => {
    const remedy = 'unset it, or give a --cache that holds them';
    throw new StoreError('network', 'files are missing in the cache and HF_HUB_OFFLINE is set', { remedy });
  };
  return { open };
}

function hubOptions(endpoint: string, config: BuilderConfig): HubOptions {
  return { endpoint, token: config.token(), fetch: outgoingFetch(config.outgoing()) };
}

export function cacheFolder(flags: SourceFlags, { config }: CommandDeps): string {
  return flags.cache ?? config.cache;
}
