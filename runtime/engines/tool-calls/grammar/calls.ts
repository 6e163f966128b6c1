import type { ToolFormat } from '../formats/format.js';
import type { CallFrame } from '../probe/frame.js';
import type { GrammarTool } from './arguments-schema.js';
import { gemmaArguments } from './gemma-arguments.js';
import { type Lark, oneOf } from './lark.js';
import { pythonArguments } from './python-arguments.js';
import { taggedArguments } from './tagged-arguments.js';

/** How much of the first call stands in the prompt already: nothing, what comes before its name, or its name, too. */
export type Begun = 'nothing' | 'open' | 'name';

export interface CallRules {
  /** One call or several, from the place on where they are begun. */
  calls(begun: Begun): string;
  /** The same behind a marker. */
  afterMarker(): string;
}

export interface CallRulesInput {
  format: ToolFormat;
  frame: CallFrame;
  tools: readonly GrammarTool[];
  /** False: one call. */
  several: boolean;
}

/**
 * Rules of calls whose names and arguments stand in a frame.
 * @returns undefined for a format that can't be expressed
 * @throws RunError 400 for a strict schema that the format can't honour
 */
export function framedCalls(lark: Lark, input: CallRulesInput): CallRules | undefined {
  const { frame, format, tools } = input;
  const argumentsOf = argumentRules(lark, input);
  if (!argumentsOf) return undefined;
  const given = tools.map((tool) => lark.rule(argumentsOf(tool)));
  const named = lark.rule(
    tools.map(({ name }, i) => `${lark.text(nameIn(format, name) + frame.between)} ${given[i]}`).join(' | '),
  );
  const joint = frame.joint === undefined ? undefined : lark.beforeEnd(frame.joint);
  const again = input.several && joint?.whole ? `(${jointOf(lark, format, joint.text)} ${named})*` : '';
  const { text: close } = lark.beforeEnd(frame.close);
  const rest = `${again} ${lark.text(close)}`;
  return {
    calls(begun) {
      if (begun === 'name') return `${oneOf(given)} ${rest}`;
      const open = begun === 'open' ? '' : lark.text(frame.open.replace(/^\s+/, ''));
      return `${open} ${named} ${rest}`;
    },
    afterMarker: () => `${lark.text(behindMarker(format, frame.open))} ${named} ${rest}`,
  };
}

/** What opens calls, but for the marker in it. */
function behindMarker(format: ToolFormat, open: string): string {
  const starts = 'starts' in format ? format.starts : [];
  const marker = starts.find((start) => open.includes(start));
  return marker === undefined ? open : open.slice(open.indexOf(marker) + marker.length);
}

/** In JSON a name is a text. */
const nameIn = ({ kind }: ToolFormat, name: string): string =>
  kind === 'json' || kind === 'generic' ? JSON.stringify(name).slice(1, -1) : name;

function argumentRules(
  lark: Lark,
  { format, frame }: CallRulesInput,
): ((tool: GrammarTool) => string) | undefined {
  switch (format.kind) {
    case 'tagged-arguments':
      return taggedArguments(lark, { format, frame });
    case 'pythonic':
      return pythonArguments(lark);
    case 'gemma':
      return gemmaArguments(lark, format);
    default:
      return ({ schema, strict }) => lark.arguments(schema, !strict);
  }
}

/** Between calls that have a marker each, models may write a line break that templates leave out. */
function jointOf(lark: Lark, format: ToolFormat, joint: string): string {
  const [start] = 'starts' in format ? format.starts : [];
  const at = start === undefined ? -1 : joint.indexOf(start);
  const lines = format.kind === 'pythonic' && joint === '';
  if (lines) return String.raw`/\n?/`;
  if (at < 0 || /\s$/.test(joint.slice(0, at))) return lark.text(joint);
  return `${lark.text(joint.slice(0, at))} "\\n"? ${lark.text(joint.slice(at))}`;
}
