import type { ReasoningFormat, ToolFormat } from '../../../../runtime/engines/tool-calls/formats/format.js';

/** What models of a family write, and how it is to be read. Written for these tests after the families' templates. */
export interface FamilyCase {
  format: ToolFormat;
  reasoning?: ReasoningFormat;
  special: string[];
  /** A text, then two calls: get_weather(city, days), get_time(). */
  two: string;
  /** What comes before the first call in it. */
  text: string;
  /** A call of a function that is not there. */
  unknown: string;
  /** A call with this text in its argument city: `a<|im_end|>"b` and a line break. */
  marks: string;
}

const think = { start: '<think>', end: '</think>' };
const MARKED = '{"city": "a<|im_end|>\\"b\\n"}';

export const FAMILIES: Record<string, FamilyCase> = {
  'Hermes, Qwen': {
    format: {
      kind: 'json',
      starts: ['<tool_call>'],
      ends: ['</tool_call>'],
      name: 'name',
      arguments: 'arguments',
    },
    reasoning: think,
    special: ['<|im_start|>', '<|im_end|>'],
    text: 'Let me see.',
    two:
      'Let me see.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}\n</tool_call>\n' +
      '<tool_call>\n{"name": "get_time", "arguments": {}}\n</tool_call>',
    unknown: '<tool_call>\n{"name": "launch", "arguments": {"x": 1}}\n</tool_call>',
    marks: `<tool_call>\n{"name": "get_weather", "arguments": ${MARKED}}\n</tool_call>`,
  },
  'Qwen3-Coder': {
    format: {
      ...{ kind: 'tagged-arguments', starts: ['<function='], nameEnd: '>', argumentStart: '<parameter=' },
      ...{
        keyEnd: '>',
        valueEnd: '</parameter>',
        ends: ['</function>'],
        drops: ['<tool_call>', '</tool_call>'],
      },
    },
    special: ['<|im_end|>'],
    text: 'Let me see.',
    two:
      'Let me see.\n\n<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n<parameter=days>\n3\n' +
      '</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=get_time>\n</function>\n</tool_call>',
    unknown: '<tool_call>\n<function=launch>\n<parameter=x>\n1\n</parameter>\n</function>\n</tool_call>',
    marks: '<function=get_weather>\n<parameter=city>\na<|im_end|>"b\n\n</parameter>\n</function>',
  },
  'Llama 3.1': {
    format: {
      ...{ kind: 'json', starts: ['<|python_tag|>'], ends: [], name: 'name', arguments: 'parameters' },
      bare: true,
    },
    special: ['<|python_tag|>', '<|eom_id|>'],
    text: '',
    two: '{"name": "get_weather", "parameters": {"city": "Paris", "days": 3}}; {"name": "get_time", "parameters": {}}',
    unknown: '{"name": "launch", "parameters": {"x": 1}}',
    marks: `{"name": "get_weather", "parameters": ${MARKED}}`,
  },
  'Llama 3.1, built in': {
    format: {
      ...{ kind: 'json', starts: ['<|python_tag|>'], ends: [], name: 'name', arguments: 'parameters' },
      bare: true,
    },
    special: ['<|python_tag|>', '<|eom_id|>'],
    text: 'Let me see.',
    two: 'Let me see.<|python_tag|>get_weather.call(city="Paris", days=3)\nget_time.call()<|eom_id|>',
    unknown: '<|python_tag|>launch.call(x=1)',
    marks: '<|python_tag|>get_weather.call(city="a<|im_end|>\\"b\\n")',
  },
  'pythonic (Llama 4)': {
    format: { kind: 'pythonic', starts: ['<|python_start|>'], ends: ['<|python_end|>'], bare: true },
    special: ['<|python_start|>', '<|python_end|>'],
    text: '',
    two: "[get_weather(city='Paris', days=3), get_time()]",
    unknown: '[launch(x=1)]',
    marks: `[get_weather(city='a<|im_end|>"b\\n')]`,
  },
  'pythonic in lines (Olmo 3)': {
    format: { kind: 'pythonic', starts: ['<function_calls>'], ends: ['</function_calls>'] },
    special: [],
    text: 'Let me see.',
    two: 'Let me see.\n<function_calls>get_weather(city="Paris", days=3)\nget_time()</function_calls>',
    unknown: '<function_calls>launch(x=1)</function_calls>',
    marks: '<function_calls>get_weather(city="""a<|im_end|>"b\n""")</function_calls>',
  },
  'Mistral Nemo': {
    format: { kind: 'json', starts: ['[TOOL_CALLS]'], ends: [], name: 'name', arguments: 'arguments' },
    special: ['[TOOL_CALLS]', '</s>'],
    text: 'Let me see.',
    two:
      'Let me see.[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Paris", "days": 3}, "id": "abcdefghi"}, ' +
      '{"name": "get_time", "arguments": {}, "id": "abcdefghj"}]</s>',
    unknown: '[TOOL_CALLS][{"name": "launch", "arguments": {"x": 1}}]',
    marks: `[TOOL_CALLS][{"name": "get_weather", "arguments": ${MARKED}}]`,
  },
  'Mistral Small 3.2': {
    format: { kind: 'tagged-json', starts: ['[TOOL_CALLS]'], nameEnds: ['[CALL_ID]', '[ARGS]'], ends: [] },
    reasoning: { start: '[THINK]', end: '[/THINK]' },
    special: ['[TOOL_CALLS]', '[CALL_ID]', '[ARGS]', '[THINK]', '[/THINK]'],
    text: 'Let me see.',
    two:
      'Let me see.[TOOL_CALLS]get_weather[CALL_ID]abcdefghi[ARGS]{"city": "Paris", "days": 3}' +
      '[TOOL_CALLS]get_time[ARGS]{}',
    unknown: '[TOOL_CALLS]launch[ARGS]{"x": 1}',
    marks: `[TOOL_CALLS]get_weather[ARGS]${MARKED}`,
  },
  'Functionary 3.1': {
    format: { kind: 'tagged-json', starts: ['<function='], nameEnds: ['>'], ends: ['</function>'] },
    special: ['<|eom_id|>'],
    text: 'Let me see.',
    two: 'Let me see.<function=get_weather>{"city": "Paris", "days": 3}</function><function=get_time>{}</function>',
    unknown: '<function=launch>{"x": 1}</function>',
    marks: `<function=get_weather>${MARKED}</function>`,
  },
  'Functionary 3.2': {
    format: { kind: 'recipient', start: '>>>' },
    special: [],
    text: 'Let me see.',
    two: 'all\nLet me see.>>>get_weather\n{"city": "Paris", "days": 3}>>>get_time\n{}',
    unknown: 'launch\n{"x": 1}',
    marks: `get_weather\n${MARKED}`,
  },
  'DeepSeek V3': {
    format: {
      ...{
        kind: 'tagged-json',
        starts: ['<｜tool▁call▁begin｜>function<｜tool▁sep｜>'],
        nameEnds: ['```json'],
      },
      ends: ['```<｜tool▁call▁end｜>'],
      drops: ['<｜tool▁calls▁begin｜>', '<｜tool▁calls▁end｜>'],
    },
    reasoning: think,
    special: [
      '<｜tool▁calls▁begin｜>',
      '<｜tool▁calls▁end｜>',
      '<｜tool▁call▁begin｜>',
      '<｜tool▁call▁end｜>',
      '<｜tool▁sep｜>',
    ],
    text: 'Let me see.',
    two:
      'Let me see.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n' +
      '{"city": "Paris", "days": 3}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>get_time\n```json\n{}\n' +
      '```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    unknown:
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>launch\n```json\n{"x": 1}\n```<｜tool▁call▁end｜>',
    marks: `<｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n\`\`\`json\n${MARKED}\n\`\`\`<｜tool▁call▁end｜>`,
  },
  'DeepSeek V3.1': {
    format: {
      ...{ kind: 'tagged-json', starts: ['<｜tool▁call▁begin｜>'], nameEnds: ['<｜tool▁sep｜>'] },
      ends: ['<｜tool▁call▁end｜>'],
    },
    special: [
      '<｜tool▁calls▁begin｜>',
      '<｜tool▁calls▁end｜>',
      '<｜tool▁call▁begin｜>',
      '<｜tool▁call▁end｜>',
      '<｜tool▁sep｜>',
    ],
    text: 'Let me see.',
    two:
      'Let me see.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Paris", "days": 3}' +
      '<｜tool▁call▁end｜><｜tool▁call▁begin｜>get_time<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    unknown: '<｜tool▁call▁begin｜>launch<｜tool▁sep｜>{"x": 1}<｜tool▁call▁end｜>',
    marks: `<｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>${MARKED}<｜tool▁call▁end｜>`,
  },
  'Granite 3': {
    format: { kind: 'json', starts: ['<|tool_call|>'], ends: [], name: 'name', arguments: 'arguments' },
    special: ['<|tool_call|>'],
    text: 'Let me see.',
    two:
      'Let me see.<|tool_call|>[{"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}, ' +
      '{"arguments": {}, "name": "get_time"}]',
    unknown: '<|tool_call|>[{"name": "launch", "arguments": {"x": 1}}]',
    marks: `<|tool_call|>[{"arguments": ${MARKED}, "name": "get_weather"}]`,
  },
  'Phi-4-mini': {
    format: {
      kind: 'json',
      starts: ['<|tool_call|>'],
      ends: ['<|/tool_call|>'],
      name: 'name',
      arguments: 'arguments',
    },
    special: ['<|tool_call|>', '<|/tool_call|>'],
    text: 'Let me see.',
    two:
      'Let me see.<|tool_call|>[{"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}, ' +
      '{"name": "get_time"}]<|/tool_call|>',
    unknown: '<|tool_call|>[{"name": "launch", "arguments": {"x": 1}}]<|/tool_call|>',
    marks: `<|tool_call|>[{"name": "get_weather", "arguments": ${MARKED}}]<|/tool_call|>`,
  },
  'Command R7B': {
    format: {
      ...{ kind: 'json', starts: ['<|START_ACTION|>'], ends: ['<|END_ACTION|>'] },
      ...{ name: 'tool_name', arguments: 'parameters' },
    },
    reasoning: { start: '<|START_THINKING|>', end: '<|END_THINKING|>' },
    special: [
      '<|START_ACTION|>',
      '<|END_ACTION|>',
      '<|START_THINKING|>',
      '<|END_THINKING|>',
      '<|START_RESPONSE|>',
    ],
    text: 'Let me see.',
    two:
      '<|START_RESPONSE|>Let me see.<|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "get_weather", ' +
      '"parameters": {"city": "Paris", "days": 3}},\n    {"tool_call_id": "1", "tool_name": "get_time", "parameters": {}}\n]' +
      '<|END_ACTION|>',
    unknown:
      '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "launch", "parameters": {"x": 1}}]<|END_ACTION|>',
    marks: `<|START_ACTION|>[{"tool_name": "get_weather", "parameters": ${MARKED}}]<|END_ACTION|>`,
  },
  'Command R+': {
    format: {
      ...{
        kind: 'json',
        starts: ['Action: ```json'],
        ends: ['```'],
        name: 'tool_name',
        arguments: 'parameters',
      },
    },
    special: [],
    text: 'Let me see.',
    two:
      'Let me see.\nAction: ```json\n[{"tool_name": "get_weather", "parameters": {"city": "Paris", "days": 3}}, ' +
      '{"tool_name": "get_time", "parameters": {}}]\n```',
    unknown: 'Action: ```json\n[{"tool_name": "launch", "parameters": {"x": 1}}]\n```',
    marks: `Action: \`\`\`json\n[{"tool_name": "get_weather", "parameters": ${MARKED}}]\n\`\`\``,
  },
  'GLM 4.5': {
    format: {
      ...{ kind: 'tagged-arguments', starts: ['<tool_call>'], nameEnd: '\n', argumentStart: '<arg_key>' },
      ...{ keyEnd: '</arg_key>\n<arg_value>', valueEnd: '</arg_value>', ends: ['</tool_call>'] },
    },
    reasoning: think,
    special: [],
    text: 'Let me see.',
    two:
      'Let me see.\n<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n<arg_key>days</arg_key>\n' +
      '<arg_value>3</arg_value>\n</tool_call>\n<tool_call>get_time\n</tool_call>',
    unknown: '<tool_call>launch\n<arg_key>x</arg_key>\n<arg_value>1</arg_value>\n</tool_call>',
    marks:
      '<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>a<|im_end|>"b\n\n</arg_value>\n</tool_call>',
  },
  'Kimi K2': {
    format: {
      ...{ kind: 'tagged-json', starts: ['<|tool_call_begin|>'], nameEnds: ['<|tool_call_argument_begin|>'] },
      ends: ['<|tool_call_end|>'],
    },
    special: [
      '<|tool_calls_section_begin|>',
      '<|tool_call_begin|>',
      '<|tool_call_argument_begin|>',
      '<|tool_call_end|>',
    ],
    text: 'Let me see.',
    two:
      'Let me see.<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>' +
      '{"city": "Paris", "days": 3}<|tool_call_end|><|tool_call_begin|>functions.get_time:1<|tool_call_argument_begin|>{}' +
      '<|tool_call_end|>',
    unknown: '<|tool_call_begin|>functions.launch:0<|tool_call_argument_begin|>{"x": 1}<|tool_call_end|>',
    marks: `<|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>${MARKED}<|tool_call_end|>`,
  },
  FunctionGemma: {
    format: {
      ...{
        kind: 'gemma',
        starts: ['<start_function_call>'],
        quote: '<escape>',
        ends: ['<end_function_call>'],
      },
    },
    special: ['<start_function_call>', '<end_function_call>', '<escape>'],
    text: 'Let me see.',
    two:
      'Let me see.<start_function_call>call:get_weather{city:<escape>Paris<escape>,days:3}<end_function_call>' +
      '<start_function_call>call:get_time{}<end_function_call>',
    unknown: '<start_function_call>call:launch{x:1}<end_function_call>',
    marks: '<start_function_call>call:get_weather{city:<escape>a<|im_end|>"b\n<escape>}<end_function_call>',
  },
  harmony: {
    format: { kind: 'harmony' },
    special: [
      '<|start|>',
      '<|channel|>',
      '<|message|>',
      '<|constrain|>',
      '<|call|>',
      '<|end|>',
      '<|return|>',
    ],
    text: 'Let me see.',
    two:
      '<|channel|>commentary<|message|>Let me see.<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather ' +
      '<|constrain|>json<|message|>{"city": "Paris", "days": 3}<|call|><|start|>assistant to=functions.get_time<|channel|>' +
      'commentary json<|message|>{}<|call|>',
    unknown: '<|channel|>commentary to=functions.launch<|message|>{"x": 1}<|call|>',
    marks: `<|channel|>commentary to=functions.get_weather<|message|>${MARKED}<|call|>`,
  },
  generic: {
    format: { kind: 'generic' },
    special: [],
    text: '',
    two:
      '{"tool_calls": [{"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}, ' +
      '{"name": "get_time", "arguments": {}}]}',
    unknown: '{"tool_call": {"name": "launch", "arguments": {"x": 1}}}',
    marks: `{"tool_call": {"name": "get_weather", "arguments": ${MARKED}}}`,
  },
};
