import type { AnswerText } from '../../tool-calls/grammar/answer-text.js';
import type { AskedGrammar } from './asked-grammar.js';

/** What a request asks for, as a part of a larger grammar. */
export function answerText({ kind, source }: AskedGrammar): AnswerText {
  if (kind === 'json_schema') return (lark) => lark.json(JSON.parse(source) as Record<string, unknown>);
  if (kind === 'regex') return (lark) => lark.rule(`/${betweenSlashes(source)}/`);
  return (lark) => {
    lark.add(withStart(source, START));
    return START;
  };
}

/** A name for the rule `start` of somebody else's grammar. */
const START = 'asked-start';

function betweenSlashes(regex: string): string {
  return regex.replaceAll(/\\[^]|[/\n]/g, (found) => {
    if (found === '/') return String.raw`\/`;
    return found === '\n' || found === '\\\n' ? String.raw`\n` : found;
  });
}

/** The grammar with another name for its first rule; texts, expressions and comments stay. */
function withStart(source: string, name: string): string {
  const tokens = /"(?:[^"\\]|\\.)*"|\/\/.*|\/(?:[^/\\\n]|\\.)+\/|#.*|(?<![\w-])start(?![\w-])/g;
  return source.replaceAll(tokens, (found) => (found === 'start' ? name : found));
}
