import { GLOBALS } from './globals.js';
import { tokenize } from './lexer.js';
import { scopeIn } from './parser.js';
import { parse } from './statements.js';
import { fromJson, type Value } from './values.js';

/** Prints the template with these variables, which hold what JSON can. @throws Error what the template refuses */
export type Template = (variables: Record<string, unknown>) => string;

/**
 * Reads a chat template: Jinja as Python's library renders it for transformers (trim_blocks, lstrip_blocks, the sandbox,
 * loop controls, `generation` blocks), with Python's values.
 *
 * @throws Error when it can't be read
 */
export function parseTemplate(source: string): Template {
  const run = parse(tokenize(source));
  return (variables) => {
    const given = Object.entries(variables).map(([name, value]): [string, Value] => [name, fromJson(value)]);
    const output = { text: '' };
    run(scopeIn(scopeIn(scopeIn(undefined, new Map(GLOBALS)), new Map(given))), output);
    return output.text;
  };
}
