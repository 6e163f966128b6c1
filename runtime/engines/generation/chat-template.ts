import { Template } from '@huggingface/jinja';
import { RunError } from '../../core/errors.js';
import type { ChatMessage } from '../../core/handles.js';
import { type Json, readOptionalJson, readOptionalText } from '../model-folder.js';
import { SPECIAL_TOKENS, tokenText } from '../text/tokenizer-json.js';

export interface ChatTemplate {
  /** The conversation as the model wants to read it, ending where the assistant begins. */
  render(messages: ChatMessage[], variables: Record<string, unknown>): string;
}

/**
 * Finds the chat template where Python looks: chat_template.jinja, then chat_template.json, then
 * tokenizer_config.json (text, or a list of named ones of which `default` is ours, or `tool_use` with tools).
 */
export async function loadChatTemplate(
  dir: string,
  tokenizerConfig: Json,
): Promise<ChatTemplate | undefined> {
  const own = await readOptionalText(dir, 'chat_template.jinja');
  const json = await readOptionalJson(dir, 'chat_template.json');
  const sources = namedTemplates(own ?? json?.['chat_template'] ?? tokenizerConfig['chat_template']);
  if (!sources['default']) return undefined;
  const parsed = Object.fromEntries(Object.entries(sources).map(([name, text]) => [name, parse(text)]));
  const tokens = Object.fromEntries(SPECIAL_TOKENS.map((name) => [name, tokenText(tokenizerConfig[name])]));
  return {
    render(messages, variables) {
      const name = variables['tools'] && parsed['tool_use'] ? 'tool_use' : 'default';
      const flat = walksBlocks(sources[name]!) ? messages : messages.map(flatten);
      return render(parsed[name]!, { ...tokens, ...variables, messages: flat, add_generation_prompt: true });
    },
  };
}

function namedTemplates(value: unknown): Record<string, string> {
  if (typeof value === 'string') return { default: value };
  if (!Array.isArray(value)) return {};
  const rows = value as { name?: string; template?: string }[];
  return Object.fromEntries(rows.map((row) => [row.name ?? 'default', row.template ?? '']));
}

function parse(text: string): Template {
  try {
    return new Template(text);
  } catch (cause) {
    throw new RunError('not_ready', "the model's chat template can't be read", { cause });
  }
}

function render(template: Template, variables: Record<string, unknown>): string {
  try {
    return template.render(variables);
  } catch (cause) {
    // Templates refuse conversations by raise_exception("…"): that sentence is meant for the caller.
    const reason = cause instanceof Error ? cause.message : 'unknown reason';
    throw new RunError('unprocessable', `the model's chat template refuses this conversation: ${reason}`, {
      cause,
    });
  }
}

/** True for templates that look into content blocks themselves; others want plain strings. */
function walksBlocks(source: string): boolean {
  return /\bcontent\b[^%}]*(\bis iterable|\bis not string|\bis string|\bis sequence)|in\s+message(\.content|\[['"]content['"]\])/.test(
    source,
  );
}

/** Text blocks joined to one string. */
function flatten(message: ChatMessage): ChatMessage {
  if (typeof message.content === 'string') return message;
  return { ...message, content: message.content.map((block) => block.text ?? '').join('') };
}
