import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { RunError } from '../../core/errors.js';
import type { ChatMessage } from '../../core/handles/index.js';
import { type Json, jsonOf, readOptionalText } from '../repository/model-folder.js';
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
  /** True: the template gets contents as lists of blocks, whether it walks them or not. */
  keepsBlocks?: boolean;
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

/** The small files of a repository, wherever it is. */
export interface TemplateFiles {
  /** Undefined where there is none. */
  text(path: string): Promise<string | undefined>;
  /** Names in a folder; none where there is none. */
  names(folder: string): Promise<readonly string[]>;
}

const filesIn = (dir: string): TemplateFiles => ({
  text: (path) => readOptionalText(dir, path),
  names: (folder) => readdir(join(dir, folder)).catch(() => []),
});

/** Finds the chat template of a model in a folder, as `findChatTemplate` does. */
export const loadChatTemplate = (dir: string, tokenizerConfig: Json): Promise<ChatTemplate | undefined> =>
  findChatTemplate(filesIn(dir), tokenizerConfig);

/** The same for conversations with media, as `findProcessorTemplate` does. */
export const loadProcessorTemplate = (
  dir: string,
  tokenizerConfig: Json,
  usual?: string,
): Promise<ChatTemplate | undefined> => findProcessorTemplate(filesIn(dir), tokenizerConfig, usual);

/**
 * Finds the chat template where Python looks: chat_template.jinja (with additional_chat_templates beside it), then
 * tokenizer_config.json (text, or a list of named ones), then the older chat_template.json.
 */
export async function findChatTemplate(
  files: TemplateFiles,
  tokenizerConfig: Json,
): Promise<ChatTemplate | undefined> {
  const own = await templateFiles(files);
  const json = await jsonIn(files, 'chat_template.json');
  const written = tokenizerConfig['chat_template'] ?? json?.['chat_template'];
  const templates = Object.keys(own).length > 0 ? own : namedTemplates(written);
  return createChatTemplate({ templates, tokenizerConfig });
}

/**
 * The same for conversations with media, where Python looks otherwise: the older chat_template.json and processor_config.json come before
 * what the tokenizer has, which its processors don't look at.
 * @param usual the processor's own, for a repository whose files have none
 */
export async function findProcessorTemplate(
  files: TemplateFiles,
  tokenizerConfig: Json,
  usual?: string,
): Promise<ChatTemplate | undefined> {
  const own = await templateFiles(files);
  const [json, processor] = await Promise.all(
    ['chat_template.json', 'processor_config.json'].map((name) => jsonIn(files, name)),
  );
  const written = json?.['chat_template'] ?? processor?.['chat_template'] ?? usual;
  const templates =
    Object.keys(own).length > 0 ? own : namedTemplates(written ?? tokenizerConfig['chat_template']);
  return createChatTemplate({ templates, tokenizerConfig });
}

async function jsonIn(files: TemplateFiles, name: string): Promise<Json | undefined> {
  const text = await files.text(name);
  return text === undefined ? undefined : jsonOf(name, text);
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
    render(messages, { variables, continues, asks = true, keepsBlocks = false }) {
      const name = variables['tools'] && parsed['tool_use'] ? 'tool_use' : 'default';
      const fitting = keepsBlocks || walksBlocks(templates[name]!) ? messages : messages.map(flatten);
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

async function templateFiles(files: TemplateFiles): Promise<Record<string, string>> {
  const main = await files.text('chat_template.jinja');
  const found: Record<string, string> = main === undefined ? {} : { default: main };
  const folder = 'additional_chat_templates';
  for (const name of (await files.names(folder)).filter((entry) => entry.endsWith('.jinja'))) {
    found[name.slice(0, -'.jinja'.length)] = (await files.text(`${folder}/${name}`)) ?? '';
  }
  return found;
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

/** `chat_template` of tokenizer_config.json: a text, or a list of named ones. */
export function namedTemplates(value: unknown): Record<string, string> {
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
