import { expression } from './expressions.js';
import type { Token } from './lexer.js';
import { forLoop } from './loops.js';
import { callBlock, macro } from './macros.js';
import { cursor, type Expression, type Parser, type Scope, scopeIn, type Statement } from './parser.js';
import { filters } from './postfix.js';
import { sequence } from './primary.js';
import { assign, type Target, target } from './targets.js';
import { str } from './text.js';
import { fail, truthy } from './values.js';

/** Statements of a template. @throws Error when it can't be read */
export function parse(tokens: readonly Token[]): Statement {
  const { is, take, expect } = cursor(tokens);
  const parser: Parser = {
    ...{ is, take, expect },
    expression: (whole) => expression(parser, whole),
    body: (...ends) => body(parser, ends),
  };
  return parser.body().run;
}

function body(parser: Parser, ends: readonly string[]): { run: Statement; end: string } {
  const statements: Statement[] = [];
  while (parser.is('data') || parser.is('begin')) {
    if (parser.is('begin', '{%')) {
      const end = ends.find((name) => parser.is('name', name, 1));
      if (end !== undefined) {
        parser.expect('begin');
        parser.expect('name');
        return { run: inTurn(statements), end };
      }
    }
    statements.push(statement(parser));
  }
  if (ends.length > 0) fail(`Unexpected end of template: ${ends.join(' or ')} is missing`);
  return { run: inTurn(statements), end: '' };
}

const inTurn =
  (statements: readonly Statement[]): Statement =>
  (scope, output) => {
    for (const run of statements) {
      const left = run(scope, output);
      if (left) return left;
    }
    return undefined;
  };

function statement(parser: Parser): Statement {
  const data = parser.take('data');
  if (data) return printing(() => data.text);
  if (parser.take('begin', '{{')) {
    const value = sequence(parser);
    parser.expect('end');
    return printing((scope) => str(value(scope)));
  }
  parser.expect('begin');
  const { text: name } = parser.expect('name');
  if (!Object.hasOwn(TAGS, name)) fail(`Encountered unknown tag '${name}'.`);
  const run = TAGS[name]!(parser);
  parser.expect('end');
  return run;
}

const printing =
  (text: (scope: Scope) => string): Statement =>
  (scope, output) => {
    output.text += text(scope);
    return undefined;
  };

/** What the statement prints, in a scope of its own. */
const printed = (run: Statement, scope: Scope): string => {
  const output = { text: '' };
  run(scopeIn(scope), output);
  return output.text;
};

/** Tags by name; each reads all but the end of its last tag. */
const TAGS: Record<string, (parser: Parser) => Statement> = {
  if: condition,
  for: forLoop,
  set,
  macro,
  call: callBlock,
  filter: filterBlock,
  with: withBlock,
  block: (parser) => {
    parser.expect('name');
    return own(parser, 'endblock');
  },
  // Python counts which tokens the assistant wrote by it.
  generation: (parser) => own(parser, 'endgeneration'),
  break: () => () => 'break',
  continue: () => () => 'continue',
};

function condition(parser: Parser): Statement {
  const test = sequence(parser, { whole: false });
  parser.expect('end');
  const { run, end } = parser.body('elif', 'else', 'endif');
  const otherwise = end === 'elif' ? condition(parser) : end === 'else' ? rest(parser, 'endif') : undefined;
  return (scope, output) => (truthy(test(scope)) ? run(scope, output) : otherwise?.(scope, output));
}

/** Statements behind this tag, up to the one of that name. */
function rest(parser: Parser, end: string): Statement {
  parser.expect('end');
  return parser.body(end).run;
}

function own(parser: Parser, end: string): Statement {
  const run = rest(parser, end);
  parser.take('name');
  return printing((scope) => printed(run, scope));
}

function set(parser: Parser): Statement {
  const to = target(parser, { namespaces: true });
  const value = parser.take('operator', '=') ? sequence(parser) : blockValue(parser);
  return (scope) => {
    assign(to, value(scope), scope);
    return undefined;
  };
}

function blockValue(parser: Parser): Expression {
  let run: Statement | undefined;
  const value = filters(parser, (scope) => printed(run!, scope));
  run = rest(parser, 'endset');
  return value;
}

function filterBlock(parser: Parser): Statement {
  let run: Statement | undefined;
  const value = filters(parser, (scope) => printed(run!, scope), true);
  run = rest(parser, 'endfilter');
  return printing((scope) => str(value(scope)));
}

function withBlock(parser: Parser): Statement {
  const given: [Target, Expression][] = [];
  while (!parser.is('end')) {
    const to = target(parser);
    parser.expect('operator', '=');
    given.push([to, parser.expression()]);
    if (!parser.is('end')) parser.expect('operator', ',');
  }
  const run = rest(parser, 'endwith');
  return printing((scope) => {
    const inner = scopeIn(scope);
    for (const [to, value] of given) assign(to, value(scope), inner);
    return printed(run, inner);
  });
}
