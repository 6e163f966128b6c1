import type { TaggedArgumentsFormat } from '../formats/format.js';
import { commonEnd } from '../probe/common.js';
import type { CallFrame } from '../probe/frame.js';
import { PROBE } from '../probe/names.js';
import { alone, type GrammarTool, propertiesOf } from './arguments-schema.js';
import { literal, type Lark, quoted } from './lark.js';
import { rawValue } from './raw-values.js';
import { inOrder } from './sequence.js';

/** What stands around keys and values, as the template wrote two of each. */
interface Marks {
  /** Between the name and the first key. */
  first: string;
  keyEnd: string;
  /** Between a value and its end mark. */
  edge: string;
  /** Between an end mark and the next key. */
  next: string;
  /** Behind a name without arguments. */
  none: string;
}

function marksOf({ valueEnd }: TaggedArgumentsFormat, written: string): Marks | undefined {
  const places = [PROBE.keys[0], PROBE.values[0], PROBE.keys[1], PROBE.values[1]];
  const [first, keyEnd, between] = places.map((text, i) => {
    const from = i === 0 ? 0 : written.indexOf(places[i - 1]!) + places[i - 1]!.length;
    return written.slice(from, written.indexOf(text));
  });
  const at = between!.indexOf(valueEnd);
  if (at < 0) return undefined;
  const next = between!.slice(at + valueEnd.length);
  const shared = commonEnd(first!, next);
  return {
    ...{ first: first!, keyEnd: keyEnd!, edge: between!.slice(0, at), next },
    none: first!.slice(0, first!.length - shared.length),
  };
}

/** Arguments in tags, up to the end mark of the last one. @throws RunError as `propertiesOf` and `rawValue` */
export function taggedArguments(
  lark: Lark,
  { format, frame }: { format: TaggedArgumentsFormat; frame: CallFrame },
): ((tool: GrammarTool) => string) | undefined {
  const marks = marksOf(format, frame.written);
  if (!marks || lark.parts(format.valueEnd).length !== 1) return undefined;
  const { valueEnd } = format;
  const isToken = typeof lark.parts(valueEnd)[0] === 'number';
  const end = `${marks.edge}${valueEnd}`;
  const writing = {
    text: isToken ? `/(?s:.*)/ ${lark.text(valueEnd)}` : lark.rule(`/(?s:.*)${literal(valueEnd)}/`, '[lazy]'),
    literal: (text: string) => lark.text(text + end),
    other: (schema: Record<string, unknown>, { schema: root, strict }: GrammarTool) =>
      `${lark.arguments(alone(schema, root), !strict)} ${lark.text(end)}`,
  };
  return (tool) => {
    const properties = propertiesOf(tool);
    const items = properties.map(({ key, schema, required }) => ({
      body: `${lark.text(key + marks.keyEnd)} ${rawValue(schema, tool, writing)}`,
      required,
    }));
    const some = `${lark.text(marks.first)} ${inOrder(lark, items, lark.text(marks.next))}`;
    const none = marks.none === '' ? quoted('') : lark.text(marks.none);
    if (items.length === 0) return none;
    return items.some(({ required }) => required) ? some : oneOrNone(lark, { items, marks, none });
  };
}

/** The first of several that may all be left out has another mark before it. */
function oneOrNone(
  lark: Lark,
  { items, marks, none }: { items: Parameters<typeof inOrder>[1]; marks: Marks; none: string },
): string {
  const firsts = items.map(({ body }, i) => {
    const rest = items
      .slice(i + 1)
      .map((item) => ({ ...item, body: `${lark.text(marks.next)} ${item.body}` }));
    return `${lark.text(marks.first)} ${body} ${inOrder(lark, rest, '')}`;
  });
  return lark.rule([...firsts, none].join(' | '));
}
