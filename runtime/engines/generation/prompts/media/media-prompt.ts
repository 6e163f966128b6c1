import { RunError } from '../../../../core/errors.js';
import type { TensorLike } from '../../../sessions/tensors.js';
import type { FeatureSpan, Prompt } from '../../decoding/prompt.js';
import { type MediumKind, NAMES } from './families.js';
import { joined } from './encoder-runs.js';
import type { ImageFamily, MediumFamily, MediumLayout, PlacedMedium } from './family.js';

/** Families by the kinds that a model takes. */
export type TextFamilies = {
  [K in MediumKind]?: Pick<MediumFamily, 'placeholder' | 'surrounded' | 'foreign' | 'shared' | 'expand'>;
};

/** A medium of a conversation. */
export interface ChatMedium {
  kind: MediumKind;
  layout: MediumLayout;
}

/**
 * A rendered conversation with the tokens of its media written out.
 * @param media those of each kind in their order
 * @returns the text, and the media in the order of the text
 * @throws RunError 422 where the text has other than one placeholder for each medium
 */
export function expandMedia<Medium extends ChatMedium>(
  families: TextFamilies,
  rendered: string,
  media: readonly Medium[],
): { text: string; media: Medium[] } {
  const kinds = (Object.keys(families) as MediumKind[]).map((kind) => [kind, families[kind]!] as const);
  const text = kinds.reduce(
    (given, [, { placeholder, surrounded }]) =>
      surrounded === undefined ? given : given.replaceAll(surrounded, () => placeholder),
    rendered,
  );
  checkForeign(
    kinds.flatMap(([, { foreign = [] }]) => foreign),
    text,
  );
  const waiting = new Map(kinds.map(([kind]) => [kind, media.filter((one) => one.kind === kind)]));
  checkPositions(kinds, text, waiting);
  const placed: Medium[] = [];
  const parts = text.split(new RegExp(`(${kinds.map(([, each]) => escaped(each.placeholder)).join('|')})`));
  const written = parts.map((part, i) => {
    if (i % 2 === 0) return part;
    const [kind, family] = kinds.find(([, { placeholder }]) => placeholder === part)!;
    const all = waiting.get(kind)!;
    const next = all[placed.filter((one) => one.kind === kind).length]!;
    placed.push(next);
    return family.expand(
      next.layout,
      all.map(({ layout }) => layout),
    );
  });
  const shared = kinds.flatMap(([, family]) => family.shared ?? []);
  const whole = shared.reduce((all, mark) => all.replaceAll(`${mark}${mark}`, () => mark), written.join(''));
  return { text: whole, media: placed };
}

function checkForeign(foreign: readonly string[], text: string): void {
  const found = foreign.find((placeholder) => text.includes(placeholder));
  if (found === undefined) return;
  throw new RunError(
    'unprocessable',
    `texts must not hold ${found}: it stands for media that are not read here`,
  );
}

function checkPositions(
  kinds: readonly (readonly [MediumKind, { placeholder: string }])[],
  text: string,
  media: ReadonlyMap<MediumKind, readonly ChatMedium[]>,
): void {
  for (const [kind, { placeholder }] of kinds) {
    const positions = text.split(placeholder).length - 1;
    const given = media.get(kind)!.length;
    if (positions === given) continue;
    throw new RunError(
      'unprocessable',
      `the conversation has ${given} ${NAMES[kind]}, and places for ${positions}: ` +
        `texts must not hold ${placeholder}, and the model's chat template must place ${NAMES[kind]}`,
    );
  }
}

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** A medium that has been through its encoder. */
export interface EncodedMedium extends MediumLayout {
  /** The same for the same file only, as long as it is remembered. */
  id: number;
  /** [count, width] */
  features: TensorLike;
}

/** Most features of a medium, to number them beside those of others. */
const MOST_FEATURES = 2 ** 20;

export interface PromptTokens extends Pick<MediumFamily, 'positions' | 'ahead'> {
  /** Those at whose positions features stand. */
  tokenIds: readonly number[];
}

/**
 * Puts the features of media, in the order of the text, where their tokens stand.
 * @throws RunError 422 where there are other than as many tokens as features
 */
export function mediaPrompt(
  { tokenIds, positions, ahead }: PromptTokens,
  tokens: readonly number[],
  media: readonly EncodedMedium[],
): Prompt {
  const standing = tokens.flatMap((token, place) => (tokenIds.includes(token) ? [place] : []));
  if (media.length === 0 && standing.length === 0) return { tokens };
  const features = media.reduce((sum, { count }) => sum + count, 0);
  if (standing.length !== features)
    throw new RunError(
      'unprocessable',
      `the prompt has ${standing.length} tokens of media, and the media have ${features} features`,
    );
  const keys = [...tokens];
  const spans: FeatureSpan[] = [];
  const placed: PlacedMedium[] = [];
  let first = 0;
  for (const { id, count, features: rows, grid, timeStep } of media) {
    const own = standing.slice(first, first + count);
    // Negative, unlike tokens.
    own.forEach((place, i) => (keys[place] = -(id * MOST_FEATURES + i) - 1));
    const runs = runsOf(own);
    spans.push(...runs.map((run) => spanOf(run, rows)));
    placed.push(...runs.map(({ start }) => placedRun(start, { grid, timeStep, runs: runs.length })));
    first += count;
  }
  const groups = ahead && groupsOf(ahead, tokens.length, spans);
  return { tokens, keys, spans, groups, positions: positions?.(tokens.length, placed) };
}

/** A prompt whose images stand beside it: each has one token. */
export function promptBeside(
  look: NonNullable<ImageFamily['look']>,
  tokens: readonly number[],
  media: readonly EncodedMedium[],
): Prompt {
  if (media.length === 0) return { tokens };
  return {
    tokens,
    images: { states: joined(media.map(({ features }) => features)), seen: look(tokens, media) },
  };
}

/** Steps with words between them share the medium's grid. */
function placedRun(
  start: number,
  { grid, timeStep, runs }: Pick<MediumLayout, 'grid' | 'timeStep'> & { runs: number },
): PlacedMedium {
  return {
    start,
    ...(grid ? { grid: [grid[0] / runs, grid[1], grid[2]] } : {}),
    ...(timeStep === undefined ? {} : { timeStep }),
  };
}

/** Which tokens see each other: all of a prompt, or the features of each run. */
function groupsOf(
  ahead: NonNullable<MediumFamily['ahead']>,
  length: number,
  spans: readonly FeatureSpan[],
): number[] {
  const groups = new Array<number>(length).fill(ahead === 'prompt' ? 1 : 0);
  if (ahead === 'medium') spans.forEach(({ start, count }, i) => groups.fill(i + 1, start, start + count));
  return groups;
}

interface Run {
  /** Place in the prompt. */
  start: number;
  count: number;
  /** Number of the first feature. */
  first: number;
}

/** Positions in a row, as runs. */
function runsOf(positions: readonly number[]): Run[] {
  const runs: Run[] = [];
  positions.forEach((place, i) => {
    const last = runs.at(-1);
    if (last && place === last.start + last.count) last.count++;
    else runs.push({ start: place, count: 1, first: i });
  });
  return runs;
}

function spanOf({ start, count, first }: Run, { type, data, dims }: TensorLike): FeatureSpan {
  const width = dims[1]!;
  const rows = (data as Float32Array).subarray(first * width, (first + count) * width);
  return { start, count, features: { type, data: rows, dims: [count, width] } };
}
