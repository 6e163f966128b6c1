import { RunError } from '../../../core/errors.js';
import type { GenerateOptions } from '../../../core/handles/index.js';
import { exactFormats } from '../../tool-calls/grammar/exact-formats.js';
import { checkLark } from './check-lark.js';
import { checkSchema } from './check-schema.js';
import type { GrammarKind } from './llguidance/instance.js';

export const GRAMMAR_PARAMS = ['json_schema', 'json_object', 'regex', 'choices', 'grammar'] as const;
export type GrammarParam = (typeof GRAMMAR_PARAMS)[number];

/** What a text has to follow. */
export interface AskedGrammar {
  /** Where the request says it. */
  param: string;
  kind: GrammarKind;
  source: string;
  /** True: the text is free where a grammar does not go with the request or the model. */
  optional?: boolean;
  /** Schemas in it, to tell which one is refused. */
  parts?: readonly { place: string; schema: Record<string, unknown> }[];
}

/** Bytes of a grammar: compiling takes longer than its length says. */
const MAX_SOURCE = 64 * 1024;

/**
 * The grammar that a request asks for, if any.
 * @throws RunError 400 for two of them, and for what would take too long or would not be honoured
 */
export function askedGrammar(options: GenerateOptions): AskedGrammar | undefined {
  const given = GRAMMAR_PARAMS.filter((name) => options[name] != null && options[name] !== false);
  const [param, other] = given;
  if (param === undefined) return undefined;
  if (other !== undefined)
    throw new RunError('invalid_input', `params.${other}: contradicts params.${param}; give one of them`);
  const asked = { param, ...READERS[param](options) };
  if (Buffer.byteLength(asked.source) > MAX_SOURCE)
    throw new RunError('invalid_input', `params.${param}: is longer than ${MAX_SOURCE / 1024} KiB`);
  return asked;
}

const READERS: Record<GrammarParam, (options: GenerateOptions) => Omit<AskedGrammar, 'param'>> = {
  json_schema({ json_schema }) {
    checkSchema(json_schema, 'params.json_schema');
    return { kind: 'json_schema', source: JSON.stringify(exactFormats(json_schema)) };
  },
  json_object: () => ({ kind: 'json_schema', source: '{"type":"object"}' }),
  regex: ({ regex }) => ({ kind: 'regex', source: regex! }),
  choices: ({ choices }) => ({ kind: 'regex', source: choices!.map(literal).join('|') }),
  grammar({ grammar }) {
    checkLark(grammar!);
    return { kind: 'lark', source: grammar! };
  },
};

/** A regular expression that this text alone fits. */
const literal = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|/&~#-]/g, String.raw`\$&`);
