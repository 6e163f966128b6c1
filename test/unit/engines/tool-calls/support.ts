import type { Delta, ToolCall } from '../../../../runtime/core/delta.js';
import { functionOf, type ToolFunction } from '../../../../runtime/core/tools.js';
import { createAlphabet } from '../../../../runtime/engines/tool-calls/parse/alphabet.js';
import {
  type AnswerParserOptions,
  createAnswerParser,
} from '../../../../runtime/engines/tool-calls/parse/answer-parser.js';

const schema = {
  type: 'object',
  properties: {
    city: { type: 'string' },
    days: { type: 'integer' },
    metric: { type: 'boolean' },
    ratio: { type: 'number' },
    tags: { type: 'array', items: { type: 'string' } },
    place: { type: 'object' },
    maybe: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
  },
};

export const TOOLS: Record<string, unknown>[] = ['get_weather', 'get_time'].map((name) => ({
  type: 'function',
  function: { name, parameters: schema },
}));

export const FUNCTIONS: ReadonlyMap<string, ToolFunction> = new Map(
  TOOLS.map(functionOf).map((one) => [one!.name, one!]),
);

/** What an answer holds, without ids. */
export interface Read {
  content: string;
  reasoning: string;
  calls: { name: string; arguments: string }[];
}

export interface ReadOptions extends Partial<Omit<AnswerParserOptions, 'alphabet'>> {
  /** Texts of special tokens. */
  special?: readonly string[];
  cut?: boolean;
}

/** Reads an answer whose pieces are these; where a piece is a special token, that token was chosen. */
export function readAnswer(pieces: readonly string[], options: ReadOptions = {}): Read & { deltas: Delta[] } {
  const special = new Set(options.special);
  const alphabet = createAlphabet(special);
  let ids = 0;
  const parser = createAnswerParser({
    ...{ format: undefined, reasoning: undefined, thinking: false, parallel: true, tools: FUNCTIONS },
    newId: () => `call_${ids++}`,
    ...options,
    alphabet,
  });
  const deltas: Delta[] = [];
  for (const piece of pieces) deltas.push(...parser.push(alphabet.unitOf(piece) ?? alphabet.encode(piece)));
  const { deltas: last, parts } = parser.finish(options.cut ?? false);
  const { content, reasoning, calls } = parts;
  return { content, reasoning, calls: calls.map(withoutId), deltas: [...deltas, ...last] };
}

const withoutId = ({ function: { name, arguments: given } }: ToolCall) => ({ name, arguments: given });

/** What the pieces of a stream make, as a client would put them together. */
export function joined(deltas: readonly Delta[]): Read {
  const read: Read = { content: '', reasoning: '', calls: [] };
  for (const delta of deltas) {
    if ('text' in delta) read.content += delta.text;
    else if ('reasoning' in delta) read.reasoning += delta.reasoning;
    else if ('token' in delta) continue;
    else if ('name' in delta.call) read.calls[delta.call.index] = { name: delta.call.name, arguments: '' };
    else read.calls[delta.call.index]!.arguments += delta.call.arguments;
  }
  return read;
}

/** A text as its special tokens and the characters between them. */
export function inCharacters(text: string, special: readonly string[]): string[] {
  return inTokens(text, special).flatMap((token) => (special.includes(token) ? [token] : Array.from(token)));
}

/** A text cut at its special tokens. */
export function inTokens(text: string, special: readonly string[]): string[] {
  if (special.length === 0) return [text];
  const escaped = special.map((token) => token.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return text.split(new RegExp(`(${escaped.join('|')})`)).filter((part) => part !== '');
}
