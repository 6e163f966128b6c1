/** A function that a model may call. */
export interface ToolFunction {
  name: string;
  description?: string | undefined;
  /** A JSON schema; anything else counts as none. */
  parameters?: Record<string, unknown> | undefined;
  /** True: arguments have to follow the schema. */
  strict: boolean;
}

/** Which tools an answer calls: as the model likes, never, at least one, or the named one. */
export type ToolChoice = 'auto' | 'none' | 'required' | { name: string };

/** What chats may ask for beside text. */
export interface ChatOptions {
  /** Tools as OpenAI writes them. */
  tools?: readonly Record<string, unknown>[] | null | undefined;
  tool_choice?: ToolChoice | null | undefined;
  /** False: the answer ends with its first call. */
  parallel_tool_calls?: boolean | null | undefined;
  /** True: calls and reasoning are told apart from the text. */
  parse_response?: boolean | null | undefined;
  reasoning_effort?: string | null | undefined;
}

/** How a model's answers are told apart, for those who ask what it can do. */
export interface ToolSupport {
  /** The kind of format that its calls are written in. */
  format: string;
  /**
   * How that is known: by what the repository says in this field of tokenizer_config.json, by the template's family, by comparing what it
   * writes, or `generic`: it knows no tools.
   */
  known_by: 'response_template' | 'response_schema' | 'family' | 'probe' | 'generic';
  /** What begins a call; empty where nothing announces it. */
  markers: string[];
  /** Whether its template writes several calls in one message. */
  parallel: boolean;
  /** The tags around what it thinks. */
  reasoning: { start: string; end: string } | null;
  /** What the repository says of its answers that was not understood. */
  note?: string | undefined;
}

/** Whether calls and reasoning are to be told apart from the content. */
export function wantsParsing({
  parse_response,
  tool_choice,
}: Pick<ChatOptions, 'parse_response' | 'tool_choice'>): boolean {
  return parse_response === true || (tool_choice != null && tool_choice !== 'auto' && tool_choice !== 'none');
}

/** What a tool in OpenAI's form says: `{type: "function", function: {…}}`; undefined where it has no name. */
export function functionOf(tool: Record<string, unknown>): ToolFunction | undefined {
  const { name, description, parameters, strict } = objectIn(tool['function']) ?? {};
  if (typeof name !== 'string' || name === '') return undefined;
  return {
    name,
    description: typeof description === 'string' ? description : undefined,
    parameters: objectIn(parameters),
    strict: strict === true,
  };
}

const objectIn = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
