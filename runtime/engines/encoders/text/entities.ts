import type { Aggregation, Entity } from '../../../core/handles/index.js';

/** A token of the text with the probability of each label. */
export interface TaggedToken {
  word: string;
  start: number;
  end: number;
  /** Position in its row. */
  index: number;
  /** True where it goes on with the word of the token before. */
  goesOn: boolean;
  scores: Float32Array;
}

export interface AggregateSettings {
  labels: readonly string[];
  aggregation: Aggregation;
  /** Tokens as one text. */
  join(tokens: string[]): string;
}

/** The tokens of one row as entities (TokenClassificationPipeline.aggregate). */
export function aggregate(tokens: readonly TaggedToken[], settings: AggregateSettings): Entity[] {
  const { aggregation, labels } = settings;
  if (aggregation !== 'none' && aggregation !== 'simple') {
    return grouped(
      wordsOf(tokens).map((word) => wordEntity(word, settings)),
      settings,
    );
  }
  const entities = tokens.map(({ scores, word, start, end, index }): Entity => {
    const best = bestOf(scores);
    return { label: labels[best]!, score: scores[best]!, word, start, end, index };
  });
  return aggregation === 'none' ? entities : grouped(entities, settings);
}

/** Of entities that overlap because windows do, the longest stays; of equally long ones, the surest. */
export function withoutOverlaps(entities: readonly Entity[]): Entity[] {
  const sorted = entities.toSorted((a, b) => a.start - b.start);
  const out: Entity[] = [];
  let last = sorted[0];
  if (!last) return out;
  // The first one is compared with itself, as in Python.
  for (const entity of sorted) {
    if (last.start > entity.start || entity.start >= last.end) {
      out.push(last);
      last = entity;
      continue;
    }
    const longer = entity.end - entity.start - (last.end - last.start);
    if (longer > 0 || (longer === 0 && entity.score > last.score)) last = entity;
  }
  out.push(last);
  return out;
}

function bestOf(scores: ArrayLike<number>): number {
  let best = 0;
  for (let i = 1; i < scores.length; i++) if (scores[i]! > scores[best]!) best = i;
  return best;
}

function wordsOf(tokens: readonly TaggedToken[]): TaggedToken[][] {
  const words: TaggedToken[][] = [];
  for (const token of tokens) {
    if (token.goesOn && words.length > 0) words.at(-1)!.push(token);
    else words.push([token]);
  }
  return words;
}

function wordEntity(
  tokens: readonly TaggedToken[],
  { labels, aggregation, join }: AggregateSettings,
): Entity {
  const scores = scoresOf(tokens, aggregation);
  const best = bestOf(scores);
  return {
    label: labels[best]!,
    score: scores[best]!,
    word: join(tokens.map(({ word }) => word)),
    start: tokens[0]!.start,
    end: tokens.at(-1)!.end,
  };
}

/** Scores of a word: those of its first token, of its surest one, or their mean. */
function scoresOf(tokens: readonly TaggedToken[], aggregation: Aggregation): Float32Array {
  if (aggregation === 'first') return tokens[0]!.scores;
  if (aggregation === 'max') return tokens[bestOf(tokens.map(({ scores }) => Math.max(...scores)))]!.scores;
  return tokens[0]!.scores.map((_, i) => mean(tokens.map(({ scores }) => scores[i]!)));
}

/** NaN counts as nothing. */
function mean(values: readonly number[]): number {
  const real = values.filter((value) => !Number.isNaN(value));
  return real.reduce((sum, value) => sum + value, 0) / real.length;
}

/** Joins neighbours of the same kind; a B- begins anew. */
function grouped(entities: readonly Entity[], { join }: AggregateSettings): Entity[] {
  const groups: Entity[][] = [];
  for (const entity of entities) {
    const last = groups.at(-1);
    const joins = last && tagOf(last.at(-1)!.label) === tagOf(entity.label) && !entity.label.startsWith('B-');
    if (joins) last.push(entity);
    else groups.push([entity]);
  }
  return groups.map((group) => ({
    label: group[0]!.label.slice(group[0]!.label.indexOf('-') + 1),
    score: Math.fround(mean(group.map(({ score }) => score))),
    word: join(group.map(({ word }) => word)),
    start: group[0]!.start,
    end: group.at(-1)!.end,
  }));
}

/** What a label says about the kind; one without a prefix goes on with its like. */
function tagOf(label: string): string {
  return label.startsWith('B-') || label.startsWith('I-') ? label.slice(2) : label;
}
