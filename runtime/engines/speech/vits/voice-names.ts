import { RunError } from '../../../core/errors.js';
import type { AudioOptions } from '../../../core/handles/index.js';
import { isObject } from '../../../hub-config/json.js';
import type { Json } from '../../repository/model-folder.js';

/** Fields of config.json that name the voices: as transformers does it, Piper, Coqui and other trainers. */
const TO_ID = ['speaker_id_map', 'speaker2id', 'spk2id', 'speaker_ids', 'speakers'] as const;
const FROM_ID = ['id2speaker', 'id2spk', 'id2label'] as const;

/** What transformers writes where nobody has named anything. */
const UNNAMED = /^LABEL_\d+$/;

/**
 * The name of each voice, by its number; a number where the repository names none.
 * @param count voices that the network has
 */
export function voiceNames(config: Json, count: number): string[] {
  const names = namesIn(config, count);
  return Array.from({ length: count }, (_, id) => names.get(id) ?? String(id));
}

/** The first field that names all of what it names as one voice of the network each. */
function namesIn(config: Json, count: number): ReadonlyMap<number, string> {
  const fields = [...TO_ID.map((name) => config[name]), ...FROM_ID.map((name) => config[name])];
  for (const field of fields) {
    const pairs = pairsOf(field).filter(([, name]) => !UNNAMED.test(name));
    const isWhole = pairs.every(([id, name]) => name !== '' && Number.isInteger(id) && id >= 0 && id < count);
    const names = new Map(pairs);
    const isOneEach = names.size === pairs.length && new Set(names.values()).size === pairs.length;
    if (pairs.length > 0 && isWhole && isOneEach) return names;
  }
  return new Map();
}

/** Pairs of numbers and names, whichever comes first in the field. */
function pairsOf(field: unknown): [number, string][] {
  if (Array.isArray(field)) return field.map((name, id) => [id, nameOf(name)]);
  if (!isObject(field)) return [];
  return Object.entries(field).map(([key, value]): [number, string] =>
    typeof value === 'number' ? [value, key] : [/^\d+$/.test(key) ? Number(key) : NaN, nameOf(value)],
  );
}

/** Empty for what is no name. */
const nameOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Names of voices that an error lists. */
const MOST_LISTED = 50;

/**
 * The number of the voice that is asked for, by its name or its number; undefined where none is.
 * @param voices names by their numbers
 * @throws RunError 422 for a voice that the model does not have
 */
export function voiceOf({ speaker_id: asked }: AudioOptions, voices: readonly string[]): number | undefined {
  if (asked == null) return undefined;
  const id = typeof asked === 'string' ? numberOf(asked, voices) : Number(asked);
  if (id >= 0 && id < voices.length) return id;
  const named = voices.filter((name, at) => name !== String(at));
  const more = named.length > MOST_LISTED ? ', …' : '';
  const known = named.length > 0 ? `: ${named.slice(0, MOST_LISTED).join(', ')}${more}` : '';
  throw new RunError(
    'unprocessable',
    `params.speaker_id: the model has ${voices.length} voices, from 0 on${known}`,
  );
}

/** A name comes before a number that is written as a text. */
function numberOf(asked: string, voices: readonly string[]): number {
  const named = voices.indexOf(asked);
  return named < 0 && /^\d{1,6}$/.test(asked) ? Number(asked) : named;
}
