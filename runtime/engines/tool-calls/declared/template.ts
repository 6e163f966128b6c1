import * as z from 'zod';
import type { ReasoningFormat, ToolFormat } from '../formats/format.js';
import { aroundGroup, type Mark, marksOf, textsIn } from './marks.js';
import { patternParts } from './pattern.js';
import { isHarmony, REASONING_FIELDS, type Word } from './word.js';

const literals = z.union([z.string().min(1), z.array(z.string().min(1)).min(1).max(32)]);

/** A field of the answer, and what stands around it. */
const field = z.strictObject({
  open: literals.optional(),
  open_pattern: z.string().optional(),
  close: literals.optional(),
  close_pattern: z.string().optional(),
  content: z.string().optional(),
  content_args: z.record(z.string(), z.unknown()).optional(),
  repeats: z.boolean().optional(),
  join: z.string().nullish(),
  optional: z.boolean().optional(),
  transform: z.unknown().optional(),
  transform_each: z.boolean().optional(),
});

type Field = z.infer<typeof field>;

/** As transformers 5.13 and later check it. */
const template = z.strictObject({
  version: z.literal(1).optional(),
  defaults: z.record(z.string(), z.unknown()).optional(),
  fields: z.record(z.string(), field),
  start_anchor: literals.optional(),
  start_anchor_pattern: z.string().optional(),
});

/** What a `response_template` says. */
export function templateWord(given: unknown): Word {
  const parsed = template.safeParse(given);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { unclear: [issue?.path.join('.'), issue?.message].filter(Boolean).join(': ') };
  }
  const { fields } = parsed.data;
  const calls = fields['tool_calls'];
  const key = REASONING_FIELDS.find((name) => fields[name]);
  const reasoning = key && reasoningOf(fields[key]!);
  const format = calls && formatOf(calls, dropsOf(fields));
  const unclear = [
    calls && !format ? 'fields.tool_calls says more than marks around a known form' : '',
    key && !reasoning ? `fields.${key} says more than marks around a text` : '',
  ].filter((text) => text !== '');
  return { format, reasoning, ...(unclear.length > 0 && { unclear: unclear.join(', ') }) };
}

function reasoningOf(given: Field): ReasoningFormat | undefined {
  const [start, end] = [edgeOf(given.open, given.open_pattern), edgeOf(given.close, given.close_pattern)];
  const [open, close] = [start && textsIn(start), end && textsIn(end)];
  return open?.length === 1 && close?.length === 1 ? { start: open[0]!, end: close[0]! } : undefined;
}

/** Marks around the content are no content. */
function dropsOf({ content }: Readonly<Record<string, Field>>): string[] {
  const sides = [content?.open, content?.close].flatMap((side) => side ?? []);
  return sides.map((text) => text.trim()).filter((text) => text !== '');
}

/** The marks of one side of a field; of several texts all begin it. */
function edgeOf(literal: Field['open'], pattern: string | undefined): Mark[] | undefined {
  if (literal !== undefined) {
    const texts = [literal].flat().map((text) => text.trim());
    return texts.length === 1 && texts[0] !== '' ? [{ text: texts[0]! }] : undefined;
  }
  return pattern === undefined ? undefined : marksOf(patternParts(pattern));
}

function formatOf(given: Field, drops: readonly string[]): ToolFormat | undefined {
  if (isHarmony([given.open ?? '', given.open_pattern ?? ''].flat().join(''))) return { kind: 'harmony' };
  const open = edgeOf(given.open, given.open_pattern);
  const close = edgeOf(given.close, given.close_pattern) ?? [];
  const ends = textsIn(close);
  const [first] = open ?? [];
  if (!open || !ends || !first || !('text' in first)) return undefined;
  const format = readers[given.content ?? 'text']?.(given, open, ends);
  return format && { ...format, ...withDrops([...drops, ...(format.drops ?? [])]) };
}

const withDrops = (drops: readonly string[]): { drops?: string[] } =>
  drops.length > 0 ? { drops: [...new Set(drops)] } : {};

type Reader = (given: Field, open: readonly Mark[], ends: readonly string[]) => ToolFormat | undefined;

const readers: Readonly<Record<string, Reader>> = {
  json: jsonFormat,
  'xml-inline': taggedFormat,
  'python-call-list': (given, open, ends) => {
    const starts = textsIn(open);
    const named = functionOf(given.transform);
    const plain =
      named === undefined ||
      (isPlaceholder(named.name, 'name') && isPlaceholder(named.arguments, 'arguments'));
    return starts && plain ? { kind: 'pythonic', starts: [starts.join('')], ends } : undefined;
  },
};

function jsonFormat(given: Field, open: readonly Mark[], ends: readonly string[]): ToolFormat | undefined {
  const args = given.content_args ?? {};
  const around = aroundGroup(open, 'name');
  if (around) return namedJson(given, { ...around, ends }, args);
  const starts = textsIn(open);
  const keys = objectKeys(given.transform);
  if (!starts || !keys || Object.keys(args).some((name) => name !== 'allow_non_json')) return undefined;
  return { kind: 'json', starts: [starts.join('')], ends, ...keys };
}

interface Around {
  before: readonly string[];
  after: readonly string[];
  ends: readonly string[];
}

/** A name in the mark, then the arguments as JSON, or as Gemma writes them. */
function namedJson(
  { transform }: Field,
  { before, after, ends }: Around,
  args: Readonly<Record<string, unknown>>,
): ToolFormat | undefined {
  const named = functionOf(transform);
  if (!named || !isPlaceholder(named.name, 'name') || !isPlaceholder(named.arguments, 'content'))
    return undefined;
  const quotes = quotesIn(args['string_delims']);
  const start = before.join('');
  if (args['unquoted_keys'] === true && quotes && start.endsWith('call:') && after.length === 0)
    return { kind: 'gemma', starts: [start.slice(0, -'call:'.length)], quote: quotes, ends };
  if (Object.keys(args).length > 0 || start === '' || after.length === 0) return undefined;
  return { kind: 'tagged-json', starts: [start], nameEnds: [after.join('')], ends };
}

/** The one mark on both sides of texts. */
function quotesIn(delimiters: unknown): string | undefined {
  const [pair, ...more] = Array.isArray(delimiters) ? (delimiters as unknown[]) : [];
  const [open, close] = Array.isArray(pair) ? (pair as unknown[]) : [];
  return typeof open === 'string' && open !== '' && open === close && more.length === 0 ? open : undefined;
}

function taggedFormat(given: Field, open: readonly Mark[], ends: readonly string[]): ToolFormat | undefined {
  const {
    tag_pattern: tag,
    value_parser: parser,
    merge_duplicates: merges,
    ...others
  } = given.content_args ?? {};
  const around = aroundGroup(open, 'name');
  const named = functionOf(given.transform);
  const marks = typeof tag === 'string' ? marksOf(patternParts(tag)) : undefined;
  if (!around || !named || !marks || merges === true || Object.keys(others).length > 0) return undefined;
  if (!isPlaceholder(named.name, 'name') || !isPlaceholder(named.arguments, 'content')) return undefined;
  // Values are read by the types of the tool's schema, whatever the parser.
  if (parser !== undefined && !VALUE_PARSERS.has(String(objectIn(parser)?.['name']))) return undefined;
  const [first, key, between, value, last, ...more] = marks;
  const isTag = more.length === 0 && key && 'inner' in key && value && 'inner' in value;
  if (!isTag || key.group !== 'key' || value.group !== 'value') return undefined;
  if (![first, between, last].every((mark) => mark && 'text' in mark)) return undefined;
  const [argumentStart, keyEnd, valueEnd] = [first, between, last].map(
    (mark) => (mark as { text: string }).text,
  );
  const [end, ...behind] = ends;
  return {
    ...{ kind: 'tagged-arguments', starts: around.before.slice(-1), nameEnd: around.after.join('') || '\n' },
    ...{
      argumentStart: argumentStart!,
      keyEnd: keyEnd!,
      valueEnd: valueEnd!,
      ends: end === undefined ? [] : [end],
    },
    ...withDrops([...around.before.slice(0, -1), ...behind]),
  };
}

const VALUE_PARSERS: ReadonlySet<string> = new Set(['text', 'json']);

/** `{function: {name, arguments}}` of a transform. */
function functionOf(transform: unknown): { name: unknown; arguments: unknown } | undefined {
  const inner = objectIn(objectIn(transform)?.['function']);
  return inner && { name: inner['name'], arguments: inner['arguments'] };
}

/** Under which keys the content has name and arguments. */
function objectKeys(transform: unknown): { name: string; arguments: string } | undefined {
  if (objectIn(transform)?.['function'] === '{content}') return { name: 'name', arguments: 'arguments' };
  const named = functionOf(transform);
  const [name, given] = [named?.name, named?.arguments].map((one) =>
    typeof one === 'string' ? /^\{(?:content\.)?(\w+)\}$/.exec(one)?.[1] : undefined,
  );
  return name !== undefined && given !== undefined && name !== 'content'
    ? { name, arguments: given }
    : undefined;
}

const isPlaceholder = (given: unknown, name: string): boolean => given === `{${name}}`;

const objectIn = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
