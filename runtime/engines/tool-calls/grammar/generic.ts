import type { GrammarTool } from './arguments-schema.js';
import { type Lark, quoted } from './lark.js';

const COLON = '/: ?/';
const COMMA = '/, ?/';

/** The object that models write whose templates know no tools; cut as JSON is, so that it goes beside other JSON. */
export function genericAnswer(
  lark: Lark,
  {
    tools,
    mustCall,
    several,
    text,
  }: { tools: readonly GrammarTool[]; mustCall: boolean; several: boolean; text: string | undefined },
): string {
  const key = (name: string) => `${quoted(JSON.stringify(name))} ${COLON}`;
  const call = lark.rule(
    tools
      .map(({ name, schema, strict }) => {
        const named = `${key('name')} ${quoted(JSON.stringify(name))}`;
        return `"{" ${named} ${COMMA} ${key('arguments')} ${lark.arguments(schema, !strict)} "}"`;
      })
      .join(' | '),
  );
  const more = several ? `(${COMMA} ${call})*` : '';
  const calls = `${key('tool_calls')} "[" ${call} ${more} "]"`;
  const said = `${key('response')} ${text ?? lark.arguments({ type: 'string' }, false)}`;
  return mustCall ? `"{" ${calls} "}"` : `"{" (${calls} | ${said}) "}"`;
}
