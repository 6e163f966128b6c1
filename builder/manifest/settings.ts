import { BuilderError } from '../exit.js';
import { withHeadroom } from '../plan/headroom.js';
import { dnsName, isDnsLabel } from './names.js';
import type { ManifestSubject } from './subject.js';

export const FORMATS = ['kubernetes', 'knative', 'compose', 'quadlet'] as const;
export type Format = (typeof FORMATS)[number];

/** Flags of `builder manifest`. */
export interface ManifestFlags {
  format: Format;
  name?: string;
  namespace?: string;
  image?: string;
  replicas: number;
  /** Cores; by default from the labels. */
  cpus?: number;
  /** Bytes. */
  memory?: number;
  secret: string;
  claim?: string;
  host?: string;
  publish?: string;
  env: Readonly<Record<string, string>>;
  hfToken?: boolean;
  networkPolicy?: boolean;
}

/** Input of the renderers: facts of the image and the operator's choices. */
export interface ManifestSettings extends ManifestSubject {
  image: string;
  name: string;
  namespace: string | undefined;
  replicas: number;
  /** Cores that it asks for. */
  cpus: number;
  /** Threads of the model. */
  threads: number;
  /** Memory limit in bytes; undefined when not known. */
  memoryBytes: number | undefined;
  /** Longest time of a start in seconds, without downloads. */
  startSeconds: number;
  /** Name of the Secret (or prefix of the secrets) with KEY and, if requested, the hub's token. */
  secret: string;
  claim: string | undefined;
  host: string | undefined;
  publish: string | undefined;
  env: Readonly<Record<string, string>>;
  hfToken: boolean;
  networkPolicy: boolean;
}

/** Options that only some formats support. */
const ONLY: Partial<Record<keyof ManifestFlags, readonly Format[]>> = {
  namespace: ['kubernetes', 'knative'],
  claim: ['kubernetes'],
  host: ['kubernetes'],
  networkPolicy: ['kubernetes'],
  publish: ['compose', 'quadlet'],
};

/** @throws BuilderError `usage` for options that the format does not support */
export function manifestSettings(subject: ManifestSubject, flags: ManifestFlags): ManifestSettings {
  const {
    format,
    image = subject.image,
    name = dnsName(subject.modelId),
    memory,
    hfToken,
    networkPolicy,
  } = flags;
  for (const [flag, formats] of Object.entries(ONLY)) {
    if (flags[flag as keyof ManifestFlags] === undefined || formats.includes(format)) continue;
    throw usage(`--${dashed(flag)} is for ${formats.join(' and ')}, not for ${format}`);
  }
  if (image === undefined) throw usage('the tarball names no image; give --image, as the cluster pulls it');
  if (!isDnsLabel(name)) throw usage(`--name ${name} is no DNS label; use e.g. ${dnsName(subject.modelId)}`);
  if (subject.baked && (flags.claim ?? hfToken))
    throw usage('the image holds its weights: it takes neither --claim nor --hf-token');
  if (format === 'quadlet' && flags.replicas > 1)
    throw usage('a unit is one container: --replicas is for the other formats');
  const { namespace, replicas, secret, claim, host, publish, env } = flags;
  return {
    ...subject,
    ...{ image, name, namespace, replicas, secret, claim, host, publish, env },
    cpus: flags.cpus ?? coresOf(subject),
    threads: Math.ceil(flags.cpus ?? MOST_CORES),
    memoryBytes: memory ?? limitOf(subject),
    startSeconds: startBudget(subject),
    hfToken: hfToken ?? false,
    networkPolicy: networkPolicy ?? false,
  };
}

const usage = (message: string) => new BuilderError('usage', message);

const dashed = (flag: string) => flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** What a model asks for unless told otherwise, at most: where one core is idle, two threads still use it. */
const MOST_CORES = 2;
const LEAST_CORES = 0.1;

/** Parameters that keep a core busy: at this size one short request takes some tens of milliseconds of it. */
const PARAMETERS_OF_A_CORE = 250e6;

/** Cores to ask for, by the parameters that the labels say; a request is a share under contention, not a limit. */
function coresOf({ figures }: ManifestSubject): number {
  if (figures?.parameters === undefined) return MOST_CORES;
  const cores = Math.ceil((figures.parameters / PARAMETERS_OF_A_CORE) * 10) / 10;
  return Math.min(MOST_CORES, Math.max(LEAST_CORES, cores));
}

const STEP = 2 ** 24;

/** The memory limit: the peak plus headroom, rounded up. */
function limitOf({ figures }: ManifestSubject): number | undefined {
  return figures?.memoryBytes && Math.ceil(withHeadroom(figures.memoryBytes) / STEP) * STEP;
}

/** Generous, because weights may come from a slow disk. */
const MIN_START_SECONDS = 60;
const UNKNOWN_START_SECONDS = 600;

function startBudget({ figures }: ManifestSubject): number {
  if (figures?.loadSeconds === undefined) return UNKNOWN_START_SECONDS;
  return Math.max(MIN_START_SECONDS, Math.ceil(figures.loadSeconds * 3));
}
