import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import type { TaskId } from '../runtime/core/task-ids.js';
import type { ModelEntry } from './catalog/entry.js';
import { GatewayError, describeInvalidFile } from './errors.js';

/** Dollars per second, as text so that no digit is lost. */
const price = z.string().regex(/^\d+(?:\.\d+)?$/);

const tiers = z
  .array(
    z.strictObject({ tier: z.string().min(1), gb: z.number().positive(), language: price, other: price }),
  )
  .min(1);

export type Tier = z.output<typeof tiers>[number];

/** What a model costs. */
export interface Meter {
  /** e.g. `micro-lm`. */
  meter: string;
  /** e.g. `0.0000872083 / sec`. */
  meterPrice: string;
  /** Of one second, for reckoning. */
  perSecond: number;
}

/** @throws GatewayError that names the file */
export async function readTiers(file: string): Promise<Tier[]> {
  try {
    return tiers.parse(JSON.parse(await readFile(file, 'utf8'))).toSorted((a, b) => a.gb - b.gb);
  } catch (error) {
    throw new GatewayError(`the prices in ${file} can't be used: ${describeInvalidFile(error)}`);
  }
}

/** Tasks billed as language models; all others are billed as media. */
const LANGUAGE: ReadonlySet<TaskId> = new Set<TaskId>([
  'text-generation',
  'chat',
  'text2text-generation',
  'summarization',
  'translation',
  'image-text-to-text',
  'audio-text-to-text',
  'video-text-to-text',
]);

/**
 * What the catalogue says, else the smallest tier that the model fits into, or the largest if none is big enough.
 * @param sorted by size
 */
export function meterOf(
  { task, ramRequired, remote }: Pick<ModelEntry, 'task' | 'ramRequired' | 'remote'>,
  sorted: readonly Tier[],
): Meter {
  if (remote?.price) {
    const { meter, perSecond } = remote.price;
    return { meter, meterPrice: `${perSecond} / sec`, perSecond: Number(perSecond) };
  }
  const tier = sorted.find(({ gb }) => gb >= ramRequired) ?? sorted.at(-1)!;
  const language = LANGUAGE.has(task);
  const amount = language ? tier.language : tier.other;
  return {
    meter: language ? `${tier.tier}-lm` : tier.tier,
    meterPrice: `${amount} / sec`,
    perSecond: Number(amount),
  };
}
