import { readFile } from 'node:fs/promises';
import { freemem } from 'node:os';
import path from 'node:path';
import type { ModelSpec } from '../../runtime/core/spec.js';
import { NO_TELEMETRY } from '../../runtime/boot/engine-environment.js';
import { replaceFile } from '../../runtime/store/replace-file.js';
import { packingLoss } from '../../runtime/store/spec-file.js';
import type { CommandDeps } from '../deps.js';
import { fetchWeights } from '../fetch-weights.js';
import { type ModelPlan, Refusal } from '../plan/index.js';
import { megabytes } from '../report.js';
import type { DecideOptions } from '../source.js';
import { likenessOf, type Measured } from './likeness.js';

/** What packing costs a network: measured once on bundled texts and made-up inputs, told, and held to what the operator allows. */

interface Measuring {
  /** Of the packed weights. */
  folder: string;
  /** The model over the checkpoint. */
  source: { spec: ModelSpec };
  options: DecideOptions;
  deps: CommandDeps;
}

/** Part of the free memory that two open networks may take. */
const MEMORY_SHARE = 0.5;
const FLOAT = 4;

/**
 * How alike the packed network computes, measured once and kept beside the packed weights. Undefined, with a note that says
 * why, for networks that can't be tried, and for those that don't fit into memory unpacked.
 */
export async function measureLoss(
  { spec, packedWeights, parameters = Infinity }: ModelPlan,
  { folder, source, options, deps }: Measuring,
): Promise<Measured | undefined> {
  const { report } = options;
  // An adapter makes others of the weights: how far, nobody asks.
  if (!packedWeights?.plain) return undefined;
  const place = path.join(folder, `${packedWeights.recipe.file}.likeness`);
  const kept = keptMeasure(await readFile(place, 'utf8').catch(() => undefined));
  if (kept) return kept;
  const unmeasured = (why: string): undefined => {
    report.note(`how alike the packed network computes was not measured: ${why}`);
  };
  if (parameters * FLOAT > freemem() * MEMORY_SHARE)
    return unmeasured(
      `it needs ${megabytes(parameters * FLOAT)} unpacked, more than half of the free memory`,
    );
  const networks = [
    { graphs: packedWeights.plain, folder: await fetchWeights({ ...options, model: source }, deps) },
    { graphs: spec.written!, folder },
  ] as const;
  return report.step('Compare packed and plain weights', async () => {
    const { packageRoot } = deps;
    const found = await likenessOf(...networks, { packageRoot, env: NO_TELEMETRY });
    if ('unmeasured' in found) return unmeasured(found.unmeasured);
    report.note(`the packed network computes as the plain one does ${inWords(found)}`);
    await replaceFile(place, `${JSON.stringify(found)}\n`);
    return found;
  });
}

/** @throws Refusal where a packed network loses more than the operator allows, or how much is not known */
export function refuseLoss(
  { spec, packedWeights }: ModelPlan,
  measured: Measured | undefined,
  { maxLoss }: DecideOptions['flags'],
): void {
  if (maxLoss === undefined || !packedWeights?.plain) return;
  const remedy = `take more bits (--dtype q5, q6 or q8), leave out --dtype, or allow more with --max-loss`;
  if (!measured)
    throw new Refusal(
      `what ${spec.dtype} loses of ${spec.id} could not be measured, and --max-loss is given`,
      remedy,
    );
  const loss = lossOf(measured);
  if (loss > maxLoss)
    throw new Refusal(`${spec.dtype} loses ${loss} of ${spec.id}, more than --max-loss ${maxLoss}`, remedy);
}

/** What was measured before; undefined where nothing was, or by a builder that measured less. */
function keptMeasure(text: string | undefined): Measured | undefined {
  try {
    return packingLoss.safeParse(JSON.parse(text ?? 'null')).data;
  } catch {
    return undefined;
  }
}

function inWords({ likeness, perplexity }: Measured): string {
  const alike = `up to a correlation of ${likeness}`;
  if (!perplexity) return alike;
  const { plain, packed } = perplexity;
  const growth = 100 * growthOf(perplexity);
  return `${alike}; its perplexity over bundled texts is ${packed} (${plain} before, ${growth < 0 ? '' : '+'}${growth.toFixed(1)} %)`;
}

const growthOf = ({ plain, packed }: NonNullable<Measured['perplexity']>): number => packed / plain - 1;

/** The larger of what is missing to a correlation of 1 and of what perplexity grows by. */
const lossOf = ({ likeness, perplexity }: Measured): number =>
  Number(Math.max(1 - likeness, perplexity ? growthOf(perplexity) : 0).toFixed(3));
