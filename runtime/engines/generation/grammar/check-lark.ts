import { RunError } from '../../../core/errors.js';
import { checkSchema } from './check-schema.js';

const PLACE = 'params.grammar';

/** Attributes of rules that would change how tokens are drawn, or how many, and directives that are not the caller's. */
const REFUSED = /%(?:llguidance|import)|\b(?:temperature|max_tokens)\s*=/;

/**
 * Refuses of Lark's text what would not be honoured, or would read more than the text.
 * @throws RunError 400
 */
export function checkLark(text: string): void {
  const [refused] = REFUSED.exec(text) ?? [];
  if (refused !== undefined) throw refuse(`${refused} is not supported`);
  for (const { index } of text.matchAll(/%json/g))
    checkSchema(inlineObject(text, index + 5), `${PLACE}: %json`);
}

const refuse = (message: string) => new RunError('invalid_input', `${PLACE}: ${message}`);

/** The object of JSON that begins here, after blanks. */
function inlineObject(text: string, from: number): unknown {
  const begin = from + /^\s*/.exec(text.slice(from))![0].length;
  const end = text[begin] === '{' ? endOfObject(text, begin) : begin;
  try {
    return JSON.parse(text.slice(begin, end)) as unknown;
  } catch {
    throw refuse('%json needs an object of JSON right behind it');
  }
}

/** Where the braces that open here are closed again; those in texts do not count. */
function endOfObject(text: string, begin: number): number {
  const marks = /"(?:[^"\\]|\\.)*"|[{}]/gs;
  marks.lastIndex = begin;
  let open = 0;
  for (let mark = marks.exec(text); mark; mark = marks.exec(text)) {
    if (mark[0] === '{') open += 1;
    if (mark[0] === '}') open -= 1;
    if (open === 0) return marks.lastIndex;
  }
  return text.length;
}
