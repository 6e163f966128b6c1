/** A part of a regular expression that says what is written there; `other` may be anything. */
export type PatternPart =
  | { kind: 'text'; text: string }
  | { kind: 'blanks' }
  /** One of these texts, or the end of the answer. */
  | { kind: 'choice'; texts: readonly string[] }
  | { kind: 'group'; name: string | undefined; inner: string }
  /** What may be left out as a whole. */
  | { kind: 'sequence'; parts: readonly PatternPart[] }
  | { kind: 'other' };

/** Longer patterns are not looked at. */
const MOST_PATTERN = 4096;

/** Characters that mean something else than themselves. */
const OPERATORS = new Set('^$.|?*+{}[]()');

/**
 * The parts of a regular expression of Python, as far as it only says which texts stand around groups. It is never run: it comes with the
 * repository, and could take for ever.
 */
export function patternParts(pattern: string): PatternPart[] {
  if (pattern.length > MOST_PATTERN) return [{ kind: 'other' }];
  const parts: PatternPart[] = [];
  for (let at = 0; at < pattern.length;) {
    const one = partAt(pattern, at);
    at = one.to;
    const last = parts.at(-1);
    if (one.part?.kind === 'text' && last?.kind === 'text') last.text += one.part.text;
    else if (one.part) parts.push(one.part);
  }
  return parts;
}

interface Read {
  /** Undefined: it says nothing of what is written. */
  part: PatternPart | undefined;
  to: number;
}

function partAt(pattern: string, at: number): Read {
  if (pattern[at] === '(') return groupAt(pattern, at);
  const { text, blank, to } = atomAt(pattern, at);
  const repeated = /^(?:[*+?]|\{\d*,?\d*\})[?+]?/.exec(pattern.slice(to))?.[0] ?? '';
  const end = to + repeated.length;
  // Models are free with blanks anyway.
  if (blank) return { part: { kind: 'blanks' }, to: end };
  const plain = text !== undefined && repeated === '';
  return { part: plain ? { kind: 'text', text } : { kind: 'other' }, to: end };
}

interface Atom {
  /** The character that it stands for, where it is one. */
  text?: string;
  blank?: boolean;
  to: number;
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

function atomAt(pattern: string, at: number): Atom {
  const unit = pattern[at]!;
  if (unit === '[') return { to: classEnd(pattern, at) };
  if (unit === '\\') {
    const escaped = pattern[at + 1] ?? '';
    const to = at + 2;
    if (escaped === 's') return { blank: true, to };
    const text = ESCAPES[escaped] ?? (/^[A-Za-z0-9]?$/.test(escaped) ? undefined : escaped);
    return { ...(text !== undefined && { text, blank: text.trim() === '' }), to };
  }
  if (OPERATORS.has(unit)) return { to: at + 1 };
  return { text: unit, blank: unit === '\n', to: at + 1 };
}

/** Behind a class of characters. */
function classEnd(pattern: string, from: number): number {
  for (let at = from + 2; at < pattern.length; at++) {
    if (pattern[at] === '\\') at++;
    else if (pattern[at] === ']') return at + 1;
  }
  return pattern.length;
}

function groupAt(pattern: string, from: number): Read {
  const close = groupEnd(pattern, from);
  const whole = pattern.slice(from + 1, close - 1);
  const repeated = /^[*+?]\??/.exec(pattern.slice(close))?.[0] ?? '';
  const to = close + repeated.length;
  const named = /^\?P?<([A-Za-z_]\w*)>/.exec(whole);
  const other: Read = { part: { kind: 'other' }, to };
  if (whole.startsWith('?:') && (repeated === '' || repeated === '?')) {
    const inner = whole.slice(2);
    const texts = repeated === '' ? choiceOf(inner) : undefined;
    if (texts) return { part: { kind: 'choice', texts }, to };
    return inner.includes('|') ? other : { part: { kind: 'sequence', parts: patternParts(inner) }, to };
  }
  if (repeated !== '') return other;
  if (named) return { part: { kind: 'group', name: named[1]!, inner: whole.slice(named[0].length) }, to };
  return whole.startsWith('?') ? other : { part: { kind: 'group', name: undefined, inner: whole }, to };
}

function groupEnd(pattern: string, from: number): number {
  let depth = 0;
  for (let at = from; at < pattern.length; at++) {
    if (pattern[at] === '\\') at++;
    else if (pattern[at] === '[') at = classEnd(pattern, at) - 1;
    else if (pattern[at] === '(') depth++;
    else if (pattern[at] === ')' && --depth === 0) return at + 1;
  }
  return pattern.length;
}

/** The texts of which one comes next; the end of the answer is none. */
function choiceOf(inner: string): string[] | undefined {
  const texts: string[] = [];
  for (const one of inner.split('|').flatMap(joinEscaped())) {
    if (one === '$' || one === '\\Z' || one === '^') continue;
    const [part, ...more] = patternParts(one).filter(({ kind }) => kind !== 'blanks');
    if (part?.kind !== 'text' || more.length > 0) return undefined;
    texts.push(part.text);
  }
  return texts;
}

/** Bars that are escaped part nothing. */
function joinEscaped(): (piece: string) => string[] {
  let begun = '';
  return (piece) => {
    const whole = begun + piece;
    const isOpen = /(?:^|[^\\])(?:\\\\)*\\$/.test(whole);
    begun = isOpen ? `${whole}|` : '';
    return isOpen ? [] : [whole];
  };
}
