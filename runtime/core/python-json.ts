/** Strings, which stay as they are, and numbers that JSON doesn't have. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b/g;

const NUMBERS: Readonly<Record<string, string>> = { Infinity: '1e999', '-Infinity': '-1e999', NaN: 'null' };

/**
 * Reads JSON as Python's json module writes it: with `Infinity`, `-Infinity` and `NaN`, which becomes null.
 * @throws SyntaxError
 */
export function parsePythonJson(text: string): Record<string, unknown> {
  return JSON.parse(text.replaceAll(STRING_OR_NUMBER, (found) => NUMBERS[found] ?? found)) as Record<
    string,
    unknown
  >;
}
