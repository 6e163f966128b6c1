import type { GrammarTool } from './arguments-schema.js';
import { mixed, TEXT } from './free-text.js';
import type { Lark } from './lark.js';

const CHANNEL = '<|channel|>';
const MARKERS = [CHANNEL, '<|start|>', '<|message|>', '<|constrain|>', '<|call|>', '<|end|>', '<|return|>'];
const NEXT = '<|end|><|start|>assistant';

/** Messages of gpt-oss, behind the prompt's `<|start|>assistant`. */
export interface HarmonyRules {
  /** What it thinks, as often as it likes. */
  thoughts: string;
  /** A call, which ends the answer; undefined without tools. */
  call: string | undefined;
  /** What it says, which ends the answer. @param body what that has to be; by default any text */
  final(body?: string): string;
  /** What it says before it calls. */
  preamble: string;
}

export function harmonyRules(lark: Lark, tools: readonly GrammarTool[]): HarmonyRules {
  const words = `${mixed(lark, MARKERS)} ${TEXT}?`;
  const message = (channel: string) =>
    lark.rule(`${lark.text(`${CHANNEL}${channel}<|message|>`)} ${words} ${lark.text(NEXT)}`);
  const called = tools.map(({ name, schema, strict }) => {
    const to = `to=functions.${name}`;
    const heads = [
      `${CHANNEL}commentary ${to} <|constrain|>json<|message|>`,
      `${CHANNEL}commentary ${to}<|message|>`,
      ` ${to}${CHANNEL}commentary json<|message|>`,
      ` ${to}${CHANNEL}commentary <|constrain|>json<|message|>`,
    ];
    return `(${heads.map((head) => lark.text(head)).join(' | ')}) ${lark.arguments(schema, !strict)}`;
  });
  return {
    thoughts: `${message('analysis')}*`,
    call: called.length === 0 ? undefined : lark.rule(called.join(' | ')),
    final: (body = words) => `${lark.text(`${CHANNEL}final<|message|>`)} ${body}`,
    preamble: `${message('commentary')}*`,
  };
}
