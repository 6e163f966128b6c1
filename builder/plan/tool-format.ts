import type { ModelInfo } from '../../runtime/core/spec.js';
import { isMediaChat, type TaskId } from '../../runtime/core/task-ids.js';
import type { ToolSupport } from '../../runtime/core/tools.js';
import {
  createChatTemplate,
  findChatTemplate,
  findProcessorTemplate,
  type TemplateFiles,
} from '../../runtime/engines/chat-templates/chat-template.js';
import { factsOf } from '../../runtime/engines/tool-calls/facts.js';
import { supportOf } from '../../runtime/engines/tool-calls/probe/probe.js';
import type { ModelSource } from '../../runtime/store/source.js';
import { parseObject } from './facts.js';

/**
 * How a model that chats writes calls of tools, found as the server finds it.
 * @returns undefined for tasks without chats, and where no template is found or it can't be read: the server says why
 */
export async function toolFormat(
  source: Pick<ModelSource, 'readText'>,
  info: ModelInfo,
  task: TaskId,
): Promise<ToolSupport | undefined> {
  const media = isMediaChat(task);
  if (!media && task !== 'chat' && task !== 'text-generation') return undefined;
  const config = parseObject('tokenizer_config.json', await source.readText(info, 'tokenizer_config.json'));
  const find = media ? findProcessorTemplate : findChatTemplate;
  try {
    const template = await find(filesOf(source, info), config);
    return template && supportOf(factsOf(template, config));
  } catch {
    return undefined;
  }
}

/** The same by a template that stands in a file of GGUF. */
export function templateTools(text: string): ToolSupport | undefined {
  try {
    const template = createChatTemplate({ templates: { default: text }, tokenizerConfig: {} });
    return template && supportOf(factsOf(template, {}));
  } catch {
    return undefined;
  }
}

const filesOf = (source: Pick<ModelSource, 'readText'>, info: ModelInfo): TemplateFiles => ({
  text: (path) => source.readText(info, path),
  async names(folder) {
    const inside = info.files.filter(({ path }) => path.startsWith(`${folder}/`));
    return inside.map(({ path }) => path.slice(folder.length + 1)).filter((name) => !name.includes('/'));
  },
});

/** One sentence for an operator. */
export function toolNote(support: ToolSupport | undefined): string[] {
  if (!support) return [];
  const { format, known_by: source, markers, note } = support;
  const behind = markers.length > 0 ? ` behind ${markers.join(', ')}` : '';
  const how =
    format === 'generic'
      ? 'as JSON that is asked for, since the chat template knows no tools'
      : `as ${format}${behind}, by ${SOURCES[source]}`;
  return [`tools: calls are read ${how}`, ...(note === undefined ? [] : [note])];
}

const SOURCES: Readonly<Record<ToolSupport['known_by'], string>> = {
  response_template: 'response_template of the repository',
  response_schema: 'response_schema of the repository',
  family: "the chat template's family",
  probe: 'what the chat template writes',
  generic: 'nothing',
};
