import { type Expression, type Parser, type Scope, scopeIn, type Statement } from './parser.js';
import { type Callable, fail, tuple, type Value } from './values.js';

interface Parameter {
  name: string;
  usual: Expression | undefined;
}

export function macro(parser: Parser): Statement {
  const { text: name } = parser.expect('name');
  const parameters = signature(parser);
  parser.expect('end');
  const { run } = parser.body('endmacro');
  return (scope) => {
    scope.variables.set(name, callable(parameters, run, scope));
    return undefined;
  };
}

/** `{% call(…) name(…) %}`: the macro gets what stands inside as `caller`. */
export function callBlock(parser: Parser): Statement {
  const parameters = parser.is('operator', '(') ? signature(parser) : [];
  const { withCaller } = parser.expression();
  if (!withCaller) fail('expected call');
  parser.expect('end');
  const { run } = parser.body('endcall');
  return (scope, output) => {
    output.text += withCaller(scope, callable(parameters, run, scope)) as string;
    return undefined;
  };
}

function signature(parser: Parser): Parameter[] {
  parser.expect('operator', '(');
  const parameters: Parameter[] = [];
  while (!parser.take('operator', ')')) {
    const { text: name } = parser.expect('name');
    parameters.push({ name, usual: parser.take('operator', '=') ? parser.expression() : undefined });
    if (!parser.is('operator', ')')) parser.expect('operator', ',');
  }
  return parameters;
}

/** Runs in a scope of its own inside the one that it was written in, and gives what it prints. */
function callable(parameters: Parameter[], run: Statement, scope: Scope): Callable {
  return ({ positional, named }) => {
    const inner = scopeIn(scope);
    const rest = new Map<Value, Value>(named);
    rest.delete('caller');
    inner.variables.set('caller', named.get('caller'));
    parameters.forEach(({ name, usual }, at) => {
      const given = at < positional.length || rest.has(name);
      const value = at < positional.length ? positional[at] : rest.get(name);
      inner.variables.set(name, given ? value : usual?.(inner));
      rest.delete(name);
    });
    inner.variables.set('varargs', tuple(positional.slice(parameters.length)));
    inner.variables.set('kwargs', rest);
    const output = { text: '' };
    run(inner, output);
    return output.text;
  };
}
