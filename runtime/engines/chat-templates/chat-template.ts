import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RunError } from '../../core/errors.js';
import type { ChatMessage } from '../../core/handles/index.js';
import { type Json, readOptionalJson, readOptionalText } from '../repository/model-folder.js';
import { strip, stripEnd } from './jinja/strings.js';
import { parseTemplate, type Template } from './jinja/template.js';
import { specialTokensOf } from '../tokenizers/tokenizer-json.js';

export interface RenderOptions {
  /** More template variables (tools, documents, enable_thinking, …). */
  variables: Record<string, unknown>;
  /** True: the prompt ends inside the last message, which the model goes on with. */
  continues: boolean;
  /** False: nothing behind the last message asks for an answer. Default true. */
  asks?: boolean;
}

export interface ChatTemplate {
  /** The template for plain conversations, as it is written. */
  readonly source: string;
  /** That one, and the one for tools where there is another. */
  readonly sources: string;
  /** The conversation as the model wants to read it, ending where the assistant begins or goes on. */
  render(messages: ChatMessage[], options: RenderOptions): string;
}

/** Templates by name, and what they may print of the tokenizer. */
export interface TemplateSources {
  templates: Record<string, string>;
  tokenizerConfig: Json;
}

/**
 * Finds the chat template where Python looks: chat_template.jinja (with additional_chat_templates beside it), then
 * tokenizer_config.json (text, or a list of named ones), then the older chat_template.json.
 */
export async function loadChatTemplate(
  dir: string,
  tokenizerConfig: Json,
): Promise<ChatTemplate | undefined> {
  const files = await templateFiles(dir);
  const json = await readOptionalJson(dir, 'chat_template.json');
  const written = tokenizerConfig['chat_template'] ?? json?.['chat_template'];
  const templates = Object.keys(files).length > 0 ? files : namedTemplates(written);
  return createChatTemplate({ templates, tokenizerConfig });
}

/**
 * The same for conversations with media, where Python looks otherwise: the older chat_template.json and processor_config.json come before
 * what the tokenizer has, which its processors don't look at.
 * @param usual the processor's own, for a repository whose files have none
 */
export async function loadProcessorTemplate(
  dir: string,
  tokenizerConfig: Json,
  usual?: string,
): Promise<ChatTemplate | undefined> {
  const files = await templateFiles(dir);
  const [json, processor] = await Promise.all(
    ['chat_template.json', 'processor_config.json'].map((name) => readOptionalJson(dir, name)),
  );
  const written = json?.['chat_template'] ?? processor?.['chat_template'] ?? usual;
  const templates =
    Object.keys(files).length > 0 ? files : namedTemplates(written ?? tokenizerConfig['chat_template']);
  return createChatTemplate({ templates, tokenizerConfig });
}

/** `default` is the template for plain conversations, `tool_use` the one for those with tools where it exists. */
export function createChatTemplate({
  templates,
  tokenizerConfig,
}: TemplateSources): ChatTemplate | undefined {
  if (!templates['default']) return undefined;
  const parsed = Object.fromEntries(Object.entries(templates).map(([name, text]) => [name, parse(text)]));
  const tokens = tokenVariables(tokenizerConfig);
  return {
    source: templates['default'],
    sources: [templates['default'], templates['tool_use'] ?? ''].join('\n'),
    render(messages, { variables, continues, asks = true }) {
      const name = variables['tools'] && parsed['tool_use'] ? 'tool_use' : 'default';
      const fitting = walksBlocks(templates[name]!) ? messages : messages.map(flatten);
      const write = (given: ChatMessage[]) =>
        render(parsed[name]!, {
          // Python always hands these over; templates ask whether they are none.
          ...{ ...tokens, tools: null, documents: null, ...variables },
          messages: given,
          add_generation_prompt: asks && !continues,
        });
      return continues ? continued(fitting, write) : write(fitting);
    },
  };
}

/** Only tokens that are set: templates ask whether they are defined. */
function tokenVariables(config: Json): Record<string, unknown> {
  const { named, further } = specialTokensOf(config);
  return { ...named, ...(further.length > 0 ? { additional_special_tokens: further } : {}) };
}

async function templateFiles(dir: string): Promise<Record<string, string>> {
  const main = await readOptionalText(dir, 'chat_template.jinja');
  const files: Record<string, string> = main === undefined ? {} : { default: main };
  const folder = join(dir, 'additional_chat_templates');
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((entry) => entry.endsWith('.jinja'))) {
    files[name.slice(0, -'.jinja'.length)] = await readFile(join(folder, name), 'utf8');
  }
  return files;
}

const CONTINUE_TAG = 'CONTINUE_FINAL_MESSAGE_TAG ';

/** Marks the end of the last message, renders, and cuts at the mark (transformers' render_jinja_template). */
function continued(messages: ChatMessage[], write: (messages: ChatMessage[]) => string): string {
  const last = messages.at(-1)!;
  const { begun, content } = withTag(last.content);
  const text = write([...messages.slice(0, -1), { ...last, content }]);
  const at = text.lastIndexOf(CONTINUE_TAG.trim());
  if (at < 0 || !text.includes(strip(begun))) {
    throw new RunError(
      'unprocessable',
      "the model's chat template leaves out the last message, so it can't be continued; end with a user message",
    );
  }
  const kept = text.slice(0, at);
  // A template that trims messages has also lost the blanks before the mark.
  return text.startsWith(CONTINUE_TAG, at) ? kept : stripEnd(kept);
}

/** The text that the model goes on with, and the content with the mark behind it. */
function withTag(content: ChatMessage['content']): { begun: string; content: ChatMessage['content'] } {
  if (typeof content === 'string') return { begun: content, content: content + CONTINUE_TAG };
  const at = content?.findLastIndex((block) => block.text !== undefined) ?? -1;
  const begun = content?.[at]?.text;
  if (!content || begun === undefined) {
    throw new RunError(
      'unprocessable',
      'the last message has no text to go on with; end with a user message',
    );
  }
  const marked = content.map((block, i) => (i === at ? { ...block, text: begun + CONTINUE_TAG } : block));
  return { begun, content: marked };
}

function namedTemplates(value: unknown): Record<string, string> {
  if (typeof value === 'string') return { default: value };
  if (!Array.isArray(value)) return {};
  const rows = value as { name?: string; template?: string }[];
  return Object.fromEntries(rows.map((row) => [row.name ?? 'default', row.template ?? '']));
}

function parse(text: string): Template {
  try {
    return parseTemplate(text);
  } catch (cause) {
    throw new RunError('not_ready', `the model's chat template can't be read: ${said(cause)}`, { cause });
  }
}

function render(template: Template, variables: Record<string, unknown>): string {
  try {
    return template(variables);
  } catch (cause) {
    // Templates refuse conversations by raise_exception("…"): that sentence is meant for the caller.
    throw new RunError(
      'unprocessable',
      `the model's chat template refuses this conversation: ${said(cause)}`,
      {
        cause,
      },
    );
  }
}

const said = (cause: unknown): string => (cause instanceof Error ? cause.message : 'unknown reason');

/** Templates that loop over a message's blocks, or pick one by its number; others want plain strings. */
const LOOP = /\bfor\s+\w+(\s*,\s*\w+)*\s+in\s+[^%}]*\bcontent\b/;
const PICK = /\bcontent\b['"\]]*\s*\[\s*(0|-1)\s*\]/;

function walksBlocks(source: string): boolean {
  return LOOP.test(source) || PICK.test(source);
}

/** Text blocks joined to one string. */
function flatten(message: ChatMessage): ChatMessage {
  if (!Array.isArray(message.content)) return message;
  return { ...message, content: message.content.map((block) => block.text ?? '').join('') };
}
