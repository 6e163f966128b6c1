import { HOLES } from '../probe/frame.js';
import { exactFormats } from './exact-formats.js';

/** Special tokens that a grammar may name. */
export interface MarkerTokens {
  /** Ids of special tokens by their texts. */
  ids: ReadonlyMap<string, number>;
  /** Ids that end a text: a grammar accepts them where it may end, and names them nowhere. */
  ends: ReadonlySet<number>;
}

/** How JSON stands in calls: with or without a blank behind colons and commas, as templates and models write it. */
const SPACED = { item_separator: ', ?', key_separator: ': ?' };

/** A grammar in Lark's notation, as llguidance reads it, while it is written. https://github.com/guidance-ai/llguidance */
export class Lark {
  /** Names of rules by what they are. */
  readonly #rules = new Map<string, string>();
  readonly #extra: string[] = [];
  readonly #tokens: MarkerTokens;
  /** Texts of special tokens, the longest first. */
  readonly #special: readonly string[];

  constructor(tokens: MarkerTokens) {
    this.#tokens = tokens;
    this.#special = [...tokens.ids.keys()].sort((a, b) => b.length - a.length);
  }

  /** A rule of its own. @returns its name */
  rule(body: string, attributes = ''): string {
    const rule = `${attributes}: ${body}`;
    const name = this.#rules.get(rule) ?? `part-${this.#rules.size}`;
    this.#rules.set(rule, name);
    return name;
  }

  /** Rules that are somebody else's. */
  add(rules: string): void {
    this.#extra.push(rules);
  }

  /** A text in which special tokens are the tokens, and holes are filled by the model. */
  text(written: string): string {
    return this.parts(written)
      .map((part) => (typeof part === 'number' ? `<[${part}]>` : textOf(part)))
      .join(' ');
  }

  /** A text cut at the special tokens in it: their ids. */
  parts(written: string): (string | number)[] {
    const parts: (string | number)[] = [];
    let plain = '';
    for (let at = 0; at < written.length;) {
      const token = this.#special.find((one) => written.startsWith(one, at));
      if (token === undefined) {
        plain += written[at++];
        continue;
      }
      if (plain !== '') parts.push(plain);
      plain = '';
      parts.push(this.#tokens.ids.get(token)!);
      at += token.length;
    }
    return plain === '' ? parts : [...parts, plain];
  }

  /** What of a text stands before the first token that ends an answer; `whole` is false where there is one. */
  beforeEnd(written: string): { text: string; whole: boolean } {
    const at = this.#special
      .filter((token) => this.#tokens.ends.has(this.#tokens.ids.get(token)!))
      .map((token) => written.indexOf(token))
      .filter((place) => place >= 0);
    const cut = Math.min(written.length, ...at);
    return { text: written.slice(0, cut), whole: cut === written.length };
  }

  /** Arguments as JSON. @param lenient true: what of the schema can't be honoured is left out */
  arguments(schema: Record<string, unknown>, lenient: boolean): string {
    const exact = exactFormats(schema) as Record<string, unknown>;
    return this.json(exact, { ...SPACED, ...(lenient ? { lenient } : {}) });
  }

  /** JSON of a schema, without blanks. */
  json(schema: Record<string, unknown>, options: Record<string, unknown> = {}): string {
    const all = { whitespace_flexible: false, ...options };
    return this.rule(`%json ${JSON.stringify({ ...schema, 'x-guidance': all })}`);
  }

  /** Special tokens that stand in no marker: models may write them among their words. */
  others(markers: readonly string[]): string | undefined {
    const used = new Set(markers.flatMap((marker) => this.parts(marker)));
    const { ids, ends } = this.#tokens;
    const others = [...ids.values()].filter((id) => !used.has(id) && !ends.has(id));
    return others.length === 0 ? undefined : `<[${others.join(',')}]>`;
  }

  /** The whole grammar. */
  toString(start: string): string {
    const rules = [...this.#rules].map(([rule, name]) => `${name}${rule}`);
    return [`start: ${start}`, ...rules, ...this.#extra, ''].join('\n');
  }
}

/** A text in quotes. */
export const quoted = (text: string): string => JSON.stringify(text);

/** What stands for itself in a regular expression between slashes. */
export const literal = (text: string): string =>
  text.replaceAll(/[\\^$.*+?()[\]{}|/&~#-]/g, String.raw`\$&`).replaceAll('\n', String.raw`\n`);

function textOf(part: string): string {
  return part
    .split(/([\uFDD0\uFDD1])/)
    .filter((piece) => piece !== '')
    .map((piece) => {
      if (piece === HOLES.id) return '/[a-zA-Z0-9]{9}/';
      return piece === HOLES.count ? '/[0-9]{1,3}/' : quoted(piece);
    })
    .join(' ');
}

/** One of these. */
export const oneOf = (choices: readonly string[]): string =>
  choices.length === 1 ? choices[0]! : `(${choices.join(' | ')})`;
