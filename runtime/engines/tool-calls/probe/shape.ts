import type { ToolFormat } from '../formats/format.js';
import { commonEnd, commonStart } from './common.js';
import { PROBE } from './names.js';

/** What a template wrote for an assistant's message that calls functions: one, and both (undefined where it can't). */
export interface WrittenCalls {
  one: string;
  two: string | undefined;
}

const [FIRST, SECOND] = PROBE.functions;

/** The format by which these were written; undefined where none is seen. */
export function shapeOf({ one, two }: WrittenCalls): ToolFormat | undefined {
  const [name, second] = one.includes(FIRST) ? [FIRST, SECOND] : PROBE.ids;
  if (!one.includes(name)) return undefined;
  return (
    jsonShape(one, two) ?? taggedShape({ one, two: two?.includes(second) ? two : undefined }, name, second)
  );
}

export interface Span {
  from: number;
  to: number;
}

/** Calls that are JSON objects with the name in them. */
function jsonShape(one: string, two: string | undefined): ToolFormat | undefined {
  const object = objectWith(one, FIRST);
  if (!object) return undefined;
  const keys = keysOf(JSON.parse(one.slice(object.from, object.to)) as Record<string, unknown>);
  if (!keys) return undefined;
  const before = one.slice(0, object.from);
  const after = one.slice(object.to);
  const between = betweenObjects(two);
  const start = between === undefined ? '' : commonEnd(before, between).trim();
  // Each call has a marker of its own, or they stand in a list.
  const isMarker = start !== '' && !/^[[,;]/.test(start);
  const end = isMarker ? commonStart(after, between!) : after;
  const rest = isMarker ? before.slice(0, before.lastIndexOf(start)) : '';
  const starts = isMarker ? start : before.trimEnd().replace(/\[$/, '');
  return {
    ...{ kind: 'json', starts: texts(starts), ends: texts(end.trimStart().replace(/^\]/, '')), ...keys },
    ...(starts.trim() === '' ? { bare: true } : {}),
    ...dropsOf(rest, isMarker ? after.slice(end.length) : ''),
  };
}

const texts = (...all: string[]): string[] => all.map((text) => text.trim()).filter((text) => text !== '');

function dropsOf(...all: string[]): { drops?: string[] } {
  const drops = texts(...all);
  return drops.length > 0 ? { drops } : {};
}

function betweenObjects(two: string | undefined): string | undefined {
  const [first, second] = [two && objectWith(two, FIRST), two && objectWith(two, SECOND)];
  return two && first && second && first.to <= second.from ? two.slice(first.to, second.from) : undefined;
}

/** The largest JSON object around a name. */
function objectWith(text: string, name: string): Span | undefined {
  const at = text.indexOf(name);
  for (let from = text.indexOf('{'); from >= 0 && from < at; from = text.indexOf('{', from + 1)) {
    const to = objectEnd(text, from);
    if (to !== undefined && to > at) return { from, to };
  }
  return undefined;
}

/** Where the JSON object ends that begins there. */
export function objectEnd(text: string, from: number): number | undefined {
  for (let to = text.indexOf('}', from); to >= 0; to = text.indexOf('}', to + 1)) {
    try {
      JSON.parse(text.slice(from, to + 1));
      return to + 1;
    } catch {
      // A brace within it.
    }
  }
  return undefined;
}

function keysOf(call: Record<string, unknown>): { name: string; arguments: string } | undefined {
  const inner = call['function'];
  const entries = Object.entries(
    typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>) : call,
  );
  const name = entries.find(([, value]) => value === FIRST)?.[0];
  const given = entries.find(
    ([key, value]) => key !== name && JSON.stringify(value)?.includes(PROBE.values[0]),
  );
  return name !== undefined && given ? { name, arguments: given[0] } : undefined;
}

/** Calls whose name stands before the arguments. */
function taggedShape({ one, two }: WrittenCalls, name: string, second: string): ToolFormat | undefined {
  const at = one.indexOf(name);
  const before = one.slice(0, at);
  const after = one.slice(at + name.length);
  const parts = argumentParts(after);
  if (!parts) return undefined;
  const between =
    two === undefined ? undefined : betweenNames(two, { name, second, skipped: parts.argumentsLength });
  const shared = between === undefined ? '' : commonEnd(before, between);
  // Where nothing comes before each call, what comes before the first one begins them all.
  const alone = shared.trim() === '';
  const start = alone ? before : shared;
  const end = alone ? parts.end : commonStart(parts.end, between!);
  const rest = { ...dropsOf(before.slice(0, before.length - start.length), parts.end.slice(end.length)) };
  if (parts.kind === 'json') {
    if (start.trim() === '') return undefined;
    return {
      ...{ kind: 'tagged-json', starts: texts(start), nameEnds: parts.nameEnds, ends: texts(end) },
      ...rest,
    };
  }
  return argumentsShape(parts, { start, end, rest });
}

/** What stands between the first call's arguments and the second call's name. */
function betweenNames(
  two: string,
  { name, second, skipped }: { name: string; second: string; skipped: number },
): string {
  const from = two.indexOf(name) + name.length + skipped;
  return two.slice(from, two.indexOf(second, from));
}

type ArgumentParts = { end: string; argumentsLength: number } & (
  { kind: 'json'; nameEnds: string[] } | { kind: 'tags'; first: string; keyEnd: string; between: string }
);

/** How arguments follow a name. */
function argumentParts(after: string): ArgumentParts | undefined {
  const [key, otherKey] = PROBE.keys;
  const [value, otherValue] = PROBE.values;
  const object = jsonArguments(after);
  if (object)
    return {
      ...{ kind: 'json', nameEnds: nameEndsOf(after.slice(0, object.from)) },
      ...{ end: after.slice(object.to), argumentsLength: object.to },
    };
  const places = [key, value, otherKey, otherValue].map((text) => after.indexOf(text));
  if (places.some((place, i) => place < 0 || (i > 0 && place < places[i - 1]!))) return undefined;
  const [atKey, atValue, atOther, atLast] = places as [number, number, number, number];
  const argumentsLength = atLast + otherValue.length;
  return {
    ...{ kind: 'tags', first: after.slice(0, atKey), keyEnd: after.slice(atKey + key.length, atValue) },
    ...{ between: after.slice(atValue + value.length, atOther), argumentsLength },
    end: after.slice(argumentsLength),
  };
}

function jsonArguments(after: string): Span | undefined {
  const object = objectWith(after, PROBE.keys[0]);
  if (!object) return undefined;
  const value = JSON.parse(after.slice(object.from, object.to)) as Record<string, unknown>;
  return value[PROBE.keys[0]] === PROBE.values[0] ? object : undefined;
}

/** What stands between name and arguments; around the call's id, where that is among it. */
function nameEndsOf(text: string): string[] {
  return text.split(PROBE.ids[0]).map((part) => part.trim() || '\n');
}

type Tags = Extract<ArgumentParts, { kind: 'tags' }>;

/** Arguments that are written one by one: in tags, as Python does, or between braces. */
function argumentsShape(
  { first, keyEnd, between }: Tags,
  { start, end, rest }: { start: string; end: string; rest: { drops?: string[] } },
): ToolFormat | undefined {
  if (first.trim() === '(' && /^=["']?$/.test(keyEnd.trim())) {
    const closing = end.replace(/^["']?\s*\)\s*\]?/, '');
    const starts = texts(start.trimEnd().replace(/\[$/, ''));
    return { kind: 'pythonic', starts, ends: texts(closing), ...(starts.length === 0 ? { bare: true } : {}) };
  }
  if (first === '{' && keyEnd.startsWith(':') && start.trimEnd().endsWith('call:')) {
    const quote = keyEnd.slice(1);
    const closing = end.startsWith(quote) ? end.slice(quote.length) : end;
    const starts = texts(start.trimEnd().slice(0, -'call:'.length));
    return { kind: 'gemma', starts, quote, ends: texts(closing.replace(/^\}/, '')), ...rest };
  }
  const argumentStart = commonEnd(first, between);
  const valueEnd = between.slice(0, between.length - argumentStart.length).trim();
  const marks = { argumentStart: argumentStart.trim(), keyEnd: keyEnd.trim(), valueEnd };
  if (Object.values(marks).includes('') || start.trim() === '') return undefined;
  const nameEnd = first.slice(0, first.length - argumentStart.length).trim();
  const tail = end.trimStart().startsWith(valueEnd) ? end.trimStart().slice(valueEnd.length) : end;
  // Models are free with the blanks between tags: each tag by itself.
  const [opening, closing] = [start, tail].map((text) => text.match(/<[^<>]*>|<\S*$|\S+/g) ?? []);
  const [last, ends] = [opening!.at(-1)!, closing!.slice(0, 1)];
  return {
    ...{ kind: 'tagged-arguments', starts: [last], nameEnd: nameEnd || '\n' },
    ...{ ...marks, ends },
    ...dropsOf(...(rest.drops ?? []), ...opening!.slice(0, -1), ...closing!.slice(1)),
  };
}
