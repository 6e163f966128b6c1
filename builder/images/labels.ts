import { createHash } from 'node:crypto';
import { type Device, DEVICES, type ModelSpec } from '../../runtime/core/spec.js';
import { openApiOf } from '../../runtime/boot/openapi.js';
import type { Figures } from '../plan/figures.js';

/** Labels of images. */
export const LABEL = {
  /** Runtime images only: profile and device. */
  runtime: 'io.slipway.runtime',
  /** Model images only: the exact id. */
  model: 'io.slipway.model',
  revision: 'io.slipway.revision',
  commit: 'io.slipway.commit',
  task: 'io.slipway.task',
  engine: 'io.slipway.engine',
  profile: 'io.slipway.profile',
  dtype: 'io.slipway.dtype',
  /** Of exported graphs: by which transformers. */
  exported: 'io.slipway.exported',
  /** Of packed weights: correlation of what the network computes with what it computed before. */
  likeness: 'io.slipway.likeness',
  perplexity: 'io.slipway.perplexity',
  device: 'io.slipway.device',
  license: 'io.slipway.license',
  /** Of models that chat: the format of their calls of tools, as /status has it. */
  tools: 'io.slipway.tools',
  /** `true` when the weights are in the image. */
  baked: 'io.slipway.baked',
  /** `true` on sealed images, and the hex SHA-256 of their manifest. */
  sealed: 'io.slipway.sealed',
  manifest: 'io.slipway.manifest',
  version: 'io.slipway.version',
  platform: 'io.slipway.platform',
  /** Hex SHA-256 of the server's /openapi.json. */
  openapi: 'io.slipway.openapi',
  /** Number of the network's parameters, independent of how they are packed. */
  parameters: 'io.slipway.parameters',
  /** Peak memory in bytes, server included, and seconds from the start with verified weights to ready. */
  memory: 'io.slipway.memory',
  load: 'io.slipway.load',
  /** Basis of the three before: `predicted` or `measured`. Unknown figures have no label. */
  figures: 'io.slipway.figures',
  /** Digest of all inputs of the build: equal digest, equal image. */
  build: 'io.slipway.build',
} as const;

export interface ModelLabels {
  spec: ModelSpec;
  device: Device;
  platform: string;
  baked: boolean;
  version: string;
  figures?: Figures | undefined;
  /** The format of its calls of tools. */
  tools?: string | undefined;
}

/** Labels of a model image, sorted by name. */
export function modelLabels({
  spec,
  device,
  platform,
  baked,
  version,
  figures,
  tools = '',
}: ModelLabels): [string, string][] {
  const license = spec.license ?? '';
  const labels: Record<string, string> = {
    [LABEL.model]: spec.id,
    [LABEL.revision]: spec.revision,
    [LABEL.commit]: spec.commit,
    [LABEL.task]: spec.task,
    [LABEL.engine]: spec.engine,
    [LABEL.profile]: spec.profile,
    [LABEL.dtype]: spec.dtype,
    [LABEL.likeness]: spec.likeness === undefined ? '' : String(spec.likeness),
    [LABEL.perplexity]: spec.perplexity
      ? `${spec.perplexity.packed} (${spec.perplexity.plain} unpacked)`
      : '',
    [LABEL.exported]: spec.exported?.tools['transformers'] ?? '',
    [LABEL.device]: device,
    [LABEL.license]: license,
    [LABEL.tools]: tools,
    [LABEL.baked]: String(baked),
    [LABEL.version]: version,
    [LABEL.platform]: platform,
    [LABEL.openapi]: createHash('sha256')
      .update(JSON.stringify(openApiOf(spec, version)))
      .digest('hex'),
    ...(figures && Object.fromEntries(figureLabels(figures))),
    'org.opencontainers.image.title': spec.id,
    'org.opencontainers.image.revision': spec.commit,
    'org.opencontainers.image.licenses': license,
  };
  return Object.entries(labels)
    .filter(([, value]) => value !== '')
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

const FIGURES: readonly string[] = [LABEL.parameters, LABEL.memory, LABEL.load, LABEL.figures];

export function isFigure(label: string): boolean {
  return FIGURES.includes(label);
}

/** Figures as labels; empty if nothing is known. */
export function figureLabels({ parameters, memoryBytes, loadSeconds, basis }: Figures): [string, string][] {
  const known = (
    [
      [LABEL.parameters, parameters],
      [LABEL.memory, memoryBytes],
      [LABEL.load, loadSeconds],
    ] as const
  ).flatMap(([name, value]): [string, string][] => (value === undefined ? [] : [[name, String(value)]]));
  return known.length === 0 ? [] : [...known, [LABEL.figures, basis]];
}

/** Reads figures from labels. Values that are not positive numbers are ignored, since anybody can set labels. */
export function figuresOf(labels: Readonly<Record<string, string>>): Figures | undefined {
  const basis = labels[LABEL.figures];
  if (basis !== 'predicted' && basis !== 'measured') return undefined;
  const number = (name: string) => {
    const value = /^\d{1,15}(?:\.\d{1,3})?$/.test(labels[name] ?? '') ? Number(labels[name]) : 0;
    return value > 0 ? value : undefined;
  };
  return {
    parameters: number(LABEL.parameters),
    memoryBytes: number(LABEL.memory),
    loadSeconds: number(LABEL.load),
    basis,
  };
}

/** The device that an image computes on; undefined for one that no builder labelled. */
export function deviceOf(labels: Readonly<Record<string, string>>): Device | undefined {
  return DEVICES.find((device) => device === labels[LABEL.device]);
}
