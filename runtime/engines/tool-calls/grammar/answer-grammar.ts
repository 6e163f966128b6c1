import type { ReasoningFormat, ToolFormat } from '../formats/format.js';
import type { CallFrame } from '../probe/frame.js';
import type { GrammarTool } from './arguments-schema.js';
import { type Begun, type CallRules, framedCalls } from './calls.js';
import { ANY, mixed, NO_CALL, TEXT, thoughts, upTo } from './free-text.js';
import { genericAnswer } from './generic.js';
import { harmonyRules } from './harmony.js';
import { Lark, type MarkerTokens } from './lark.js';
import type { AnswerText } from './answer-text.js';

export interface AnswerGrammarInput {
  /** Undefined: no calls, no channels. */
  format: ToolFormat | undefined;
  frame: CallFrame | undefined;
  reasoning: ReasoningFormat | undefined;
  /** Where the prompt ends: before what the model may think, within it, or behind it. */
  thoughts: 'before' | 'within' | 'behind';
  tools: readonly GrammarTool[];
  /** Whether there has to be a call, or may be none. */
  mustCall: boolean;
  several: boolean;
  begun: Begun;
  /** What an answer without a call has to be; undefined: any text. */
  text: AnswerText | undefined;
  tokens: MarkerTokens;
}

/**
 * The grammar of an answer with calls in it, in Lark's notation.
 * @returns undefined for a format of calls that can't be expressed
 * @throws RunError 400 for a strict schema that can't be honoured
 */
export function answerGrammar(input: AnswerGrammarInput): string | undefined {
  const lark = new Lark(input.tokens);
  const text = input.text?.(lark);
  if (input.format?.kind === 'harmony') return lark.toString(harmonyStart(lark, input, text));
  const answer = answerOf(lark, input, text);
  const { reasoning } = input;
  if (answer === undefined || !reasoning || input.thoughts === 'behind' || input.begun !== 'nothing')
    return answer && lark.toString(answer);
  const thought = thoughts(lark, { reasoning, begun: input.thoughts === 'within' });
  return thought && lark.toString(`${thought} (${answer})`);
}

function harmonyStart(lark: Lark, { tools, mustCall }: AnswerGrammarInput, text: string | undefined): string {
  const { thoughts, call, final, preamble } = harmonyRules(lark, tools);
  if (call === undefined) return `${thoughts} ${final(text)}`;
  if (mustCall) return `${thoughts} ${call}`;
  // What it says before a call is no text of a format.
  return `${thoughts} ${text === undefined ? preamble : ''} (${call} | ${final(text)})`;
}

function answerOf(lark: Lark, input: AnswerGrammarInput, text: string | undefined): string | undefined {
  const { format, frame, tools, mustCall, begun } = input;
  if (!format || tools.length === 0)
    return format?.kind === 'recipient' && text !== undefined ? `"all\\n" ${text}` : text;
  if (!frame) return undefined;
  if (format.kind === 'generic' && begun === 'nothing') return genericAnswer(lark, { ...input, text });
  const rules = framedCalls(lark, { ...input, format, frame });
  if (!rules || mustCall) return rules?.calls(begun);
  if (text !== undefined)
    return `${format.kind === 'recipient' ? '"all\\n" ' : ''}${text} | ${rules.calls('nothing')}`;
  return freely(lark, format, rules);
}

/** Any text, in which a marker begins calls. */
function freely(lark: Lark, format: ToolFormat, rules: CallRules): string | undefined {
  if (format.kind === 'recipient') {
    const marker = lark.text(format.start);
    const called = `${upTo(lark, format.start)} ${rules.calls('nothing')}`;
    return marker && `"all\\n" (${TEXT}? | ${called}) | ${rules.calls('nothing')}`;
  }
  if (!('starts' in format)) return undefined;
  const bare = 'bare' in format && format.bare === true;
  const words = bare ? NO_CALL : ANY;
  const before = bare ? '' : mixed(lark, [...format.starts, ...format.ends]);
  const heads = format.starts.map((start) => upTo(lark, start, words));
  if (heads.includes(undefined)) return undefined;
  const called = heads.map((head) => `${head} ${rules.afterMarker()}`);
  // What begins as a call does has to be one.
  const calls = bare ? [rules.calls('nothing')] : [];
  return `${before} (${[...calls, `/${words}/?`, ...called].join(' | ')})`;
}
