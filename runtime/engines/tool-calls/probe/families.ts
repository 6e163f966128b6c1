import type { ReasoningFormat, ToolFormat } from '../formats/format.js';

/** Formats that comparing renderings can't find: what models write is not what their templates write of it. */
interface Family {
  /** What the template's text has in it. */
  signs: readonly string[];
  format: ToolFormat;
}

const FAMILIES: readonly Family[] = [
  { signs: ['<|channel|>', '<|message|>', 'functions.'], format: { kind: 'harmony' } },
  { signs: ['>>>all'], format: { kind: 'recipient', start: '>>>' } },
  {
    // Command R and R+, whose template for tools writes what it asks for in words only.
    signs: ['Action:', 'directly_answer'],
    format: {
      ...{ kind: 'json', name: 'tool_name', arguments: 'parameters' },
      ...{ starts: ['Action: ```json', 'Action:```json'], ends: ['```'] },
    },
  },
  {
    // Llama 3.1 to 3.3 write a call from the first character on, and calls of what is built in as Python does.
    signs: ['<|start_header_id|>', 'Environment: ipython'],
    format: {
      ...{ kind: 'json', name: 'name', arguments: 'parameters', bare: true },
      ...{ starts: ['<|python_tag|>'], ends: [] },
    },
  },
  {
    // Phi-4-mini, whose template writes no calls.
    signs: ['<|tool|>', '<|/tool|>'],
    format: {
      ...{ kind: 'json', name: 'name', arguments: 'arguments' },
      ...{ starts: ['<|tool_call|>'], ends: ['<|/tool_call|>'] },
    },
  },
  {
    signs: ['<|header_start|>', 'Environment: ipython'],
    format: { kind: 'pythonic', starts: ['<|python_start|>'], ends: ['<|python_end|>'], bare: true },
  },
];

export function familyFormat(source: string): ToolFormat | undefined {
  return FAMILIES.find(({ signs }) => signs.every((sign) => source.includes(sign)))?.format;
}

/** Its parser knows channels; this is for those who ask what the model does. */
export const HARMONY_REASONING: ReasoningFormat = {
  start: '<|channel|>analysis<|message|>',
  end: '<|end|>',
};

const REASONING: readonly ReasoningFormat[] = [
  { start: '<think>', end: '</think>' },
  { start: '[THINK]', end: '[/THINK]' },
  { start: '<|START_THINKING|>', end: '<|END_THINKING|>' },
  { start: '<seed:think>', end: '</seed:think>' },
  { start: '<|inner_prefix|>', end: '<|inner_suffix|>' },
];

/** Tags that a template knows of, though it writes none of them around reasoning that it is given. */
export function familyReasoning(source: string): ReasoningFormat | undefined {
  return REASONING.find(({ start, end }) => source.includes(end) || source.includes(start));
}
