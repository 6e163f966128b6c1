import type { ReasoningFormat, ToolFormat } from '../formats/format.js';

/** What was understood. */
export interface Word {
  format?: ToolFormat | undefined;
  reasoning?: ReasoningFormat | undefined;
  /** What was not: a place and a fact. */
  unclear?: string | undefined;
}

/** Names under which libraries keep what a model thought. */
export const REASONING_FIELDS = ['reasoning_content', 'thinking', 'reasoning'] as const;

/** Of gpt-oss, whose channels have a parser of their own. */
export const isHarmony = (text: string): boolean =>
  text.includes('channel') && text.includes('functions') && text.includes('commentary');
