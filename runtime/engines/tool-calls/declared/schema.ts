import * as z from 'zod';
import type { ReasoningFormat, ToolFormat } from '../formats/format.js';
import { aroundGroup, marksOf } from './marks.js';
import { patternParts, type PatternPart } from './pattern.js';
import { isHarmony, REASONING_FIELDS, type Word } from './word.js';

const node = z.looseObject({
  'x-regex': z.string().optional(),
  'x-regex-iterator': z.string().optional(),
  'x-regex-key-value': z.string().optional(),
  'x-parser': z.string().optional(),
  'x-parser-args': z.looseObject({ transform: z.string().optional() }).optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  items: z.unknown().optional(),
});

type Node = z.infer<typeof node>;

const nodeOf = (given: unknown): Node | undefined => node.safeParse(given).data;

/** What a `response_schema` says: the older form, whose patterns are understood where they are marks around a known form. */
export function schemaWord(given: unknown): Word {
  const root = nodeOf(given);
  if (!root?.properties) return { unclear: 'is no schema with properties' };
  const { properties } = root;
  const outer = root['x-regex'] === undefined ? [] : patternParts(root['x-regex']);
  const calls = nodeOf(properties['tool_calls']);
  const key = REASONING_FIELDS.find((name) => name in properties);
  const reasoning = key && reasoningOf(nodeOf(properties[key]), { outer, key });
  const format = calls && formatOf(calls, outer);
  const unclear = [
    'tool_calls' in properties && !format
      ? 'properties.tool_calls says more than marks around a known form'
      : '',
    key && !reasoning ? `properties.${key} says more than marks around a text` : '',
  ].filter((text) => text !== '');
  return { format, reasoning, ...(unclear.length > 0 && { unclear: unclear.join(', ') }) };
}

function reasoningOf(
  given: Node | undefined,
  { outer, key }: { outer: readonly PatternPart[]; key: string },
): ReasoningFormat | undefined {
  const own = given?.['x-regex'];
  // Where the prompt may have begun it, the pattern says so: `(?:^|<think>\s*)`.
  const edges = own === undefined ? edgesIn(outer, key) : edgesOf(own);
  return edges && { start: edges.start, end: edges.end };
}

interface Edges {
  start: string;
  end: string;
}

/** The texts around the one group of a pattern. */
function edgesOf(pattern: string): Edges | undefined {
  const marks = marksOf(patternParts(pattern));
  const around = marks && aroundGroup(marks);
  const [start, end] = [around?.before.join(''), around?.after.join('')];
  return start && end ? { start, end } : undefined;
}

/** The texts next to a named group, which may stand in a group that is optional. */
function edgesIn(parts: readonly PatternPart[], name: string): Edges | undefined {
  const told = parts.filter(({ kind }) => kind !== 'blanks');
  const at = told.findIndex((part) => part.kind === 'group' && part.name === name);
  if (at < 0) {
    const inner = told.flatMap((part) => (part.kind === 'sequence' ? [edgesIn(part.parts, name)] : []));
    return inner.find((one) => one !== undefined);
  }
  const [before, after] = [told[at - 1], told[at + 1]];
  if (before?.kind !== 'text' || after?.kind !== 'text') return undefined;
  return { start: before.text.trim(), end: after.text.trim() };
}

const FUNCTION_TRANSFORMS = /^\[?\{type: ?'function', ?function: ?@\}\]?$/;
const KEYS_TRANSFORM = /^\[\*\]\.\{type: ?'function', ?function: ?\{name: ?(\w+), ?arguments: ?(\w+)\}\}$/;

function formatOf(calls: Node, outer: readonly PatternPart[]): ToolFormat | undefined {
  const pattern = calls['x-regex-iterator'] ?? calls['x-regex'];
  if (pattern !== undefined && isHarmony(pattern)) return { kind: 'harmony' };
  const edges = pattern === undefined ? edgesIn(outer, 'tool_calls') : edgesOf(pattern);
  if (!edges) return undefined;
  const around = { starts: [edges.start], ends: [edges.end] };
  const item = nodeOf(calls.items);
  const parsed = calls['x-parser'] === undefined ? item : calls;
  if (parsed?.['x-parser'] === 'json') {
    const keys = keysOf(parsed['x-parser-args']?.transform);
    return keys && { kind: 'json', ...around, ...keys };
  }
  return gemmaFormat(nodeOf(item?.properties?.['function']), around);
}

function keysOf(transform: string | undefined): { name: string; arguments: string } | undefined {
  const told = transform?.trim() ?? '';
  if (FUNCTION_TRANSFORMS.test(told)) return { name: 'name', arguments: 'arguments' };
  const [, name, given] = KEYS_TRANSFORM.exec(told) ?? [];
  return name !== undefined && given !== undefined ? { name, arguments: given } : undefined;
}

/** Gemma 4's mark around texts, which its parser knows by itself. */
const GEMMA_QUOTE = '<|"|>';

function gemmaFormat(
  called: Node | undefined,
  around: { starts: string[]; ends: string[] },
): ToolFormat | undefined {
  const parser = nodeOf(called?.properties?.['arguments'])?.['x-parser'];
  const isCall = /^call\\?:\(\?P<name>/.test(called?.['x-regex'] ?? '');
  return parser === 'gemma4-tool-call' && isCall
    ? { kind: 'gemma', ...around, quote: GEMMA_QUOTE }
    : undefined;
}
