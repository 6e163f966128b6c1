import type { Token, TokenKind } from './lexer.js';
import { fail, type Value } from './values.js';

/** Variables by name; those of the scope around count where this one has none. */
export interface Scope {
  readonly variables: Map<string, Value>;
  readonly parent: Scope | undefined;
  /** How many more turns the loops of this rendering may take. */
  readonly budget: { turns: number };
}

/** Some seconds of work. */
const MOST_TURNS = 5_000_000;

export const scopeIn = (parent: Scope | undefined, variables = new Map<string, Value>()): Scope => ({
  variables,
  parent,
  budget: parent?.budget ?? { turns: MOST_TURNS },
});

export function lookUp(scope: Scope, name: string): Value {
  for (let at: Scope | undefined = scope; at; at = at.parent) {
    if (at.variables.has(name)) return at.variables.get(name);
  }
  return undefined;
}

/** Computes a value. */
export interface Expression {
  (scope: Scope): Value;
  /** What messages call it. */
  readonly label?: string;
  /** A call, with a function that it can ask for the body of a call block. */
  readonly withCaller?: (scope: Scope, caller: Value) => Value;
}

/** What a template has printed so far. */
export interface Output {
  text: string;
}

/** Prints; what it gives leaves the loop around it, or its turn. */
export type Statement = (scope: Scope, output: Output) => 'break' | 'continue' | undefined;

/** Reads tokens one by one. */
export interface Parser {
  /** Whether the next token is that one. */
  is(kind: TokenKind, text?: string, ahead?: number): boolean;
  /** Takes the next token if it is that one. */
  take(kind: TokenKind, text?: string): Token | undefined;
  /** @throws Error when the next token is another one */
  expect(kind: TokenKind, text?: string): Token;
  /** An expression; `whole` false: without `… if …` around it. */
  expression(whole?: boolean): Expression;
  /** Statements up to one of these tags, whose name is taken and given. */
  body(...ends: string[]): { run: Statement; end: string };
}

export type Cursor = Pick<Parser, 'is' | 'take' | 'expect'>;

export function cursor(tokens: readonly Token[]): Cursor {
  let at = 0;
  const is: Cursor['is'] = (kind, text, ahead = 0) => {
    const token = tokens[at + ahead];
    return token?.kind === kind && (text === undefined || token.text === text);
  };
  const take: Cursor['take'] = (kind, text) => (is(kind, text) ? tokens[at++] : undefined);
  const expect: Cursor['expect'] = (kind, text) =>
    take(kind, text) ?? fail(`expected ${text ?? kind}, got ${tokens[at]?.text ?? 'end of template'}`);
  return { is, take, expect };
}
