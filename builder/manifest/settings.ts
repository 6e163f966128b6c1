import { BuilderError } from '../exit.js';
import { withHeadroom } from '../plan/headroom.js';
import { dnsName, isDnsLabel } from './names.js';
import type { ManifestSubject } from './subject.js';

export const FORMATS = ['kubernetes', 'knative', 'compose', 'quadlet'] as const;
export type Format = (typeof FORMATS)[number];

/** What `builder manifest` is told. */
export interface ManifestFlags {
  format: Format;
  name?: string;
  namespace?: string;
  image?: string;
  replicas: number;
  cpus: number;
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

/** All that a renderer needs: what the image says, and what the operator wants. */
export interface ManifestSettings extends ManifestSubject {
  image: string;
  name: string;
  namespace: string | undefined;
  replicas: number;
  cpus: number;
  /** Limit of memory in bytes; undefined where nobody knows. */
  memoryBytes: number | undefined;
  /** Seconds that a start may take before it counts as failed, downloads not included. */
  startSeconds: number;
  /** Name of the Secret (or of the secrets' common prefix) that holds KEY and, where asked for, the hub's token. */
  secret: string;
  claim: string | undefined;
  host: string | undefined;
  publish: string | undefined;
  env: Readonly<Record<string, string>>;
  hfToken: boolean;
  networkPolicy: boolean;
}

/** Options that only some formats have a place for. */
const ONLY: Partial<Record<keyof ManifestFlags, readonly Format[]>> = {
  namespace: ['kubernetes', 'knative'],
  claim: ['kubernetes'],
  host: ['kubernetes'],
  networkPolicy: ['kubernetes'],
  publish: ['compose', 'quadlet'],
};

/** @throws BuilderError `usage` for what the format has no place for */
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
  const { namespace, replicas, cpus, secret, claim, host, publish, env } = flags;
  return {
    ...subject,
    ...{ image, name, namespace, replicas, cpus, secret, claim, host, publish, env },
    memoryBytes: memory ?? limitOf(subject),
    startSeconds: startBudget(subject),
    hfToken: hfToken ?? false,
    networkPolicy: networkPolicy ?? false,
  };
}

const usage = (message: string) => new BuilderError('usage', message);

const dashed = (flag: string) => flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const STEP = 2 ** 24;

/** The limit of memory: the peak with some room, in steps that people can read. */
function limitOf({ figures }: ManifestSubject): number | undefined {
  return figures?.memoryBytes && Math.ceil(withHeadroom(figures.memoryBytes) / STEP) * STEP;
}

/** Weights may come from a slow disk, and nothing is won by giving up early. */
const LEAST_START_SECONDS = 60;
const UNKNOWN_START_SECONDS = 600;

function startBudget({ figures }: ManifestSubject): number {
  if (figures?.loadSeconds === undefined) return UNKNOWN_START_SECONDS;
  return Math.max(LEAST_START_SECONDS, Math.ceil(figures.loadSeconds * 3));
}
