import type { ToolSupport } from '../../../core/tools.js';
import type { Declared } from '../declared/declared.js';
import type { ReasoningFormat, ToolFormat } from '../formats/format.js';
import { familyFormat, familyReasoning, HARMONY_REASONING } from './families.js';
import { differing } from './common.js';
import { type CallFrame, frameOf } from './frame.js';
import { type ArgumentsForm, PROBE, PROBE_TOOLS, probeCall } from './names.js';
import { shapeOf } from './shape.js';

/** Where a template reads tools: in a variable, or as JSON text in the system's message. */
export type ToolsVariable = 'tools' | 'xml_tools' | 'system message';

/** What is known of a template: how its model calls and thinks, and how it takes what was said before. */
export interface TemplateFacts {
  format: ToolFormat;
  /** Where the format is known from. */
  source: ToolSupport['known_by'];
  /** What the repository says of it that was not followed. */
  note: string | undefined;
  reasoning: ReasoningFormat | undefined;
  /** The variable in which the template reads tools; undefined where it reads none. */
  toolsVariable: ToolsVariable | undefined;
  /** True: it writes a call's id in place of its name. */
  idsAreNames: boolean;
  /** What stands around names and arguments of calls; undefined where that is not known. */
  frame: CallFrame | undefined;
  /** Under which key messages hold what was thought. */
  reasoningKey: string;
  /** False: the template refuses or leaves out what the system says. */
  systemRole: boolean;
  /** How arguments of calls in the history are written; undefined where it takes no calls. */
  argumentsForm: ArgumentsForm | undefined;
  /** True: ids have to have nine characters. */
  shortIds: boolean;
  /** True: a message without content has to have an empty one. */
  emptyContent: boolean;
  /** True: results are messages of the role `tool`. */
  toolRole: boolean;
  /** False: at most one call in a message. */
  parallel: boolean;
  /** Variables that the template reads. */
  variables: { enableThinking: boolean; reasoningEffort: boolean };
}

type Message = Record<string, unknown>;

export interface ProbedTemplate {
  /** Texts of the templates, the one for tools last. */
  source: string;
  /** What the repository itself says of answers, which comes first. */
  declared?: Declared | undefined;
  /** @throws where the template refuses */
  render(messages: readonly Message[], variables: Record<string, unknown>, asks: boolean): string;
}

/** More than any template writes of so little; what follows would take long. */
const MOST_WRITTEN = 200_000;

/** Templates take a millisecond or two for all of it. */
const MOST_SPENT_MS = 1000;

/** Asks a template what it makes of small conversations, and compares. A few dozen renderings; never throws. */
export function probeTemplate(given: ProbedTemplate): TemplateFacts {
  const template = impatient(given);
  const { source, declared } = template;
  const family = familyFormat(source);
  const variable = toolsVariable(template);
  const history = variable ? probeHistory(template, variable) : undefined;
  const found = declared?.format ?? family ?? (history ? shapeOf(history.written) : undefined);
  const format: ToolFormat = variable && found ? found : { kind: 'generic' };
  const reasoning = probeReasoning(template);
  const usable = history !== undefined && format.kind !== 'generic';
  return {
    format,
    ...{ source: sourceOf(format, declared, family), note: declared?.note },
    frame: frameOf(format, writesSo(format, history?.written.one) ? history?.written : undefined),
    reasoning:
      format.kind === 'harmony'
        ? HARMONY_REASONING
        : (declared?.reasoning ?? reasoning?.format ?? familyReasoning(source)),
    reasoningKey: reasoning?.key ?? 'reasoning_content',
    systemRole: attempt(template, [SYSTEM, USER], {}, true)?.includes(PROBE.result) === true,
    toolsVariable: format.kind === 'generic' ? undefined : variable,
    argumentsForm: usable ? history.form : undefined,
    idsAreNames: usable && !history.written.one.includes(PROBE.functions[0]),
    shortIds: usable && history.shortIds,
    emptyContent: usable && history.emptyContent,
    toolRole: usable && history.toolRole,
    parallel: !usable || history.written.two !== undefined,
    variables: {
      enableThinking: /\benable_thinking\b/.test(source),
      reasoningEffort: /\breasoning_effort\b/.test(source),
    },
  };
}

function sourceOf(
  { kind }: ToolFormat,
  declared: Declared | undefined,
  family: ToolFormat | undefined,
): TemplateFacts['source'] {
  if (kind === 'generic') return 'generic';
  if (declared?.format) return declared.field;
  return family ? 'family' : 'probe';
}

/** False where the template writes calls with other marks than this format has, as a repository may say of itself. */
function writesSo(format: ToolFormat, written: string | undefined): boolean {
  if (format.kind === 'generic' || written === undefined) return false;
  const marks = 'starts' in format ? format.starts : [];
  return marks.length === 0 || marks.some((mark) => written.includes(mark));
}

/** Renders no more once that has taken too long: a load must not wait for a hostile template. */
function impatient({ render, ...given }: ProbedTemplate): ProbedTemplate {
  let spent = 0;
  return {
    ...given,
    render(...asked) {
      if (spent > MOST_SPENT_MS) throw new Error('takes too long');
      const started = performance.now();
      try {
        return render(...asked);
      } finally {
        spent += performance.now() - started;
      }
    },
  };
}

/** What of them is told. */
export function supportOf({ format, source, note, parallel, reasoning }: TemplateFacts): ToolSupport {
  const markers = 'starts' in format ? [...format.starts] : [];
  const support = { format: format.kind, known_by: source, markers, parallel, reasoning: reasoning ?? null };
  return note === undefined ? support : { ...support, note };
}

const USER: Message = { role: 'user', content: PROBE.user };
const SYSTEM: Message = { role: 'system', content: PROBE.result };

type Variables = Record<string, unknown>;

/** What is written, or undefined where the template refuses. */
function attempt({ render }: ProbedTemplate, messages: Message[], variables: Variables, asks = false) {
  try {
    const text = render(messages, variables, asks);
    return text.length > MOST_WRITTEN ? undefined : text;
  } catch {
    // A template refuses what it can't write; that is what is asked here.
    return undefined;
  }
}

function toolsVariable(template: ProbedTemplate): ToolsVariable | undefined {
  const shows = (text: string | undefined) => text?.includes(PROBE.functions[0]);
  const found = (['tools', 'xml_tools'] as const).find((name) =>
    shows(attempt(template, [USER], { [name]: PROBE_TOOLS }, true)),
  );
  if (found) return found;
  const system = { ...SYSTEM, tools: JSON.stringify(PROBE_TOOLS) };
  return shows(attempt(template, [system, USER], {}, true)) ? 'system message' : undefined;
}

interface History {
  written: { one: string; two: string | undefined };
  form: ArgumentsForm;
  shortIds: boolean;
  emptyContent: boolean;
  toolRole: boolean;
}

/** How calls in the history are written: with arguments as an object if the template can, else as text. */
function probeHistory(template: ProbedTemplate, variable: string): History | undefined {
  const tools = { [variable]: PROBE_TOOLS };
  const write = (...messages: Message[]) => attempt(template, [USER, ...messages], tools);
  const said = write({ role: 'assistant', content: PROBE.content });
  if (said === undefined) return undefined;
  for (const form of ['object', 'text'] as const) {
    const message = (calls: unknown[], content: unknown = ''): Message => ({
      ...{ role: 'assistant', content, tool_calls: calls },
    });
    const calls = [probeCall(0, form), probeCall(1, form)];
    const written = write(message(calls.slice(0, 1)));
    const one = written === undefined ? undefined : differing(written, said);
    if (one === undefined || !writesArguments(one, form)) continue;
    const both = write(message(calls));
    const bare = write(message(calls.slice(0, 1), null));
    const result = {
      role: 'tool',
      tool_call_id: PROBE.ids[0],
      name: PROBE.functions[0],
      content: PROBE.result,
    };
    return {
      written: { one, two: both === undefined ? undefined : differing(both, said) },
      ...{ form, shortIds: write(message([probeCall(0, form, PROBE.longIds)])) === undefined },
      emptyContent: bare !== written,
      toolRole: write(message(calls.slice(0, 1)), result)?.includes(PROBE.result) === true,
    };
  }
  return undefined;
}

/** Whether arguments came out as they are meant: not as Python shows a dict, nor as text in a text. */
function writesArguments(text: string, form: ArgumentsForm): boolean {
  const [key] = PROBE.keys;
  const places = [...PROBE.keys, ...PROBE.values].every((name) => text.includes(name));
  if (!places || text.includes(`\\"${key}\\"`) || text.includes(`'${key}': '`)) return false;
  return form === 'object' || text.includes(`"${key}"`);
}

/** Tags around reasoning, found by what the template writes of it. */
function probeReasoning(
  template: ProbedTemplate,
): { key: string; format: ReasoningFormat | undefined } | undefined {
  const answer = { role: 'assistant', content: PROBE.content };
  const said = attempt(template, [USER, answer], {});
  for (const key of ['reasoning_content', 'thinking', 'reasoning']) {
    const written = attempt(template, [USER, { ...answer, [key]: PROBE.reasoning }], {});
    const at = written?.indexOf(PROBE.reasoning) ?? -1;
    if (written === undefined || said === undefined || at < 0) continue;
    const end = written.slice(at + PROBE.reasoning.length, written.indexOf(PROBE.content, at)).trim();
    const start = written.slice(0, at).trimEnd().split(/\s/).at(-1)!;
    const tag = startOf(start, end);
    const format = tag !== undefined && end !== '' ? { start: tag, end: firstTag(end) } : undefined;
    return { key, format };
  }
  return undefined;
}

const firstTag = (text: string): string => /^(<[^<>]+>|\[[^\][]+\])/.exec(text)?.[0] ?? text;

/** The tag that stands right before reasoning; headers before it are none of it. */
function startOf(text: string, end: string): string | undefined {
  const tag = /(<[^<>]+>|\[[^\][]+\])$/.exec(text)?.[0];
  return tag !== undefined && !end.startsWith(tag) ? tag : undefined;
}
