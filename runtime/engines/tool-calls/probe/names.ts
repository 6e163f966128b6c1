/** Names that no template has, around which what it writes is compared. They begin and end alike with no marker. */
export const PROBE = {
  functions: ['Qfunctionone', 'Zfunctiontwo'],
  keys: ['qkeyone', 'zkeytwo'],
  values: ['Qvalueone', 'Zvaluetwo'],
  /** Of the length that some templates insist on. */
  ids: ['Qid000001', 'Zid000002'],
  longIds: ['call_Qid000001000000000000000', 'call_Zid000002000000000000000'],
  user: 'Quserask',
  content: 'Ycontentsaid',
  reasoning: 'Xreasonthought',
  result: 'Wresultgiven',
} as const;

type Two = readonly [string, string];

const properties = Object.fromEntries(PROBE.keys.map((key) => [key, { type: 'string', description: key }]));

/** The tools of probes, in OpenAI's form. */
export const PROBE_TOOLS = PROBE.functions.map((name) => ({
  type: 'function',
  function: {
    ...{ name, description: `Does ${name}.` },
    parameters: { type: 'object', properties, required: [...PROBE.keys] },
  },
}));

export type ArgumentsForm = 'object' | 'text';

/** A call as messages have it. @param index which of the two functions */
export function probeCall(index: 0 | 1, form: ArgumentsForm, ids: Two = PROBE.ids): Record<string, unknown> {
  const value = Object.fromEntries(PROBE.keys.map((key, i) => [key, PROBE.values[i]!]));
  const given = form === 'object' ? value : JSON.stringify(value);
  return { id: ids[index], type: 'function', function: { name: PROBE.functions[index], arguments: given } };
}
