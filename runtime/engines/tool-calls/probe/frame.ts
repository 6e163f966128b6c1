import type { ToolFormat } from '../formats/format.js';
import { PROBE } from './names.js';
import { objectEnd, type Span, type WrittenCalls } from './shape.js';

/** What stands around names and arguments of calls; ids and counts are holes. */
export interface CallFrame {
  /** Before the first name. */
  open: string;
  /** Between a name and its arguments. */
  between: string;
  /** The arguments of a probe as they are written. */
  written: string;
  /** Between the arguments of a call and the next name; undefined where there is one call only. */
  joint: string | undefined;
  /** Behind the last arguments. */
  close: string;
}

/** Holes of a frame, which no template writes: the id of a call, and its number. */
export const HOLES = { id: '\uFDD0', count: '\uFDD1' } as const;

/** A frame's text with something in its holes. */
export const filled = (text: string): string =>
  text.replaceAll(HOLES.id, 'call00000').replaceAll(HOLES.count, '0');

/** The frame of a format, as its template wrote calls; else as models are known to write them. */
export function frameOf(format: ToolFormat, written: WrittenCalls | undefined): CallFrame | undefined {
  return (written && writtenFrame(format, written)) ?? ownFrame(format);
}

function writtenFrame(format: ToolFormat, { one, two }: WrittenCalls): CallFrame | undefined {
  const named = one.includes(PROBE.functions[0]);
  const [name, second] = named ? PROBE.functions : PROBE.ids;
  const first = callIn(format, one, name);
  if (!first) return undefined;
  // A call's id in place of its name has the name and a number in it.
  const [before, after] = named ? ['', ''] : ['functions.', `:${HOLES.count}`];
  return {
    open: withHoles(one.slice(0, first.name)) + before,
    between: after + withHoles(one.slice(first.name + name.length, first.from)),
    written: one.slice(first.from, first.to),
    joint: withHoles(jointOf(format, two, { name, second }), before),
    close: withHoles(one.slice(first.to)).trimEnd(),
  };
}

function withHoles(text: string, after?: string): string;
function withHoles(text: string | undefined, after?: string): string | undefined;
function withHoles(text: string | undefined, after = ''): string | undefined {
  if (text === undefined) return undefined;
  return PROBE.ids.reduce((all, id) => all.replaceAll(id, HOLES.id), text) + after;
}

function jointOf(
  format: ToolFormat,
  two: string | undefined,
  { name, second }: { name: string; second: string },
): string | undefined {
  const call = two === undefined ? undefined : callIn(format, two, name);
  const at = call ? two!.indexOf(second, call.to) : -1;
  return call && at >= 0 ? two!.slice(call.to, at) : undefined;
}

/** Where a call's name is, and where its arguments begin and end. */
function callIn(format: ToolFormat, text: string, name: string): (Span & { name: number }) | undefined {
  const at = text.indexOf(name);
  const span = at < 0 ? undefined : argumentsIn(format, text, at + name.length);
  return span && { ...span, name: at };
}

function argumentsIn(format: ToolFormat, text: string, from: number): Span | undefined {
  const last = text.indexOf(PROBE.values[1], from) + PROBE.values[1].length;
  const upTo = (mark: string) => {
    const at = text.indexOf(mark, last);
    return last < PROBE.values[1].length || at < 0 ? undefined : { from, to: at + mark.length };
  };
  switch (format.kind) {
    case 'pythonic':
      return upTo(')');
    case 'gemma':
      return upTo('}');
    case 'tagged-arguments':
      return upTo(format.valueEnd);
    default: {
      const begin = text.indexOf(`{"${PROBE.keys[0]}"`, from);
      const to = begin < 0 ? undefined : objectEnd(text, begin);
      return to === undefined ? undefined : { from: begin, to };
    }
  }
}

function ownFrame(format: ToolFormat): CallFrame | undefined {
  const written = '';
  switch (format.kind) {
    case 'json': {
      const [start = '', end = ''] = [format.starts[0], format.ends[0]];
      const [open, close] = [`{"${format.name}": "`, '}'];
      const between = `", "${format.arguments}": `;
      if (format.bare) return { open, between, written, joint: undefined, close };
      return {
        ...{ open: `${start}[${open}`, between, written },
        ...{ joint: `${close}, ${open}`, close: `${close}]${end}` },
      };
    }
    case 'pythonic':
      return {
        ...{ open: `${format.starts[0] ?? ''}[`, between: '', written, joint: ', ' },
        close: `]${format.ends[0] ?? ''}`,
      };
    case 'recipient':
      return { open: '', between: '\n', written, joint: format.start, close: '' };
    case 'generic':
      return {
        ...{ open: '{"tool_calls": [{"name": "', between: '", "arguments": ', written },
        ...{ joint: '}, {"name": "', close: '}]}' },
      };
    default:
      return undefined;
  }
}
