import { RunError } from '../../core/errors.js';
import { type Json, readOptionalJson } from './model-folder.js';

const PROMPTS_FILE = 'config_sentence_transformers.json';

/** Prompts of sentence-transformers by their names. */
export type SentencePrompts = Readonly<Record<string, string | null>>;

/** @param settings config_sentence_transformers.json; without modules.json the library looks for none */
export const sentencePrompts = (settings: Json | undefined): SentencePrompts => ({
  ...{ query: '', document: '' },
  ...(settings?.['prompts'] as SentencePrompts | undefined),
});

/** Of sentence-transformers' own settings of a model. */
export interface PromptSettings {
  prompts: SentencePrompts;
  /** Name of the one that is put before texts unless another is asked for. */
  defaultPrompt: string | undefined;
}

/** @param settings as `sentencePrompts` */
export const promptSettings = (settings: Json | undefined): PromptSettings => ({
  prompts: sentencePrompts(settings),
  defaultPrompt: (settings?.['default_prompt_name'] ?? undefined) as string | undefined,
});

export async function readPromptSettings(dir: string): Promise<PromptSettings> {
  const [modules, settings] = await Promise.all([
    readOptionalJson(dir, 'modules.json'),
    readOptionalJson(dir, PROMPTS_FILE),
  ]);
  return promptSettings(modules && settings);
}

/** What stands beside a model in GGUF, which is its own module. @returns undefined where nothing does */
export async function readPromptsBeside(dir: string): Promise<PromptSettings | undefined> {
  const settings = await readOptionalJson(dir, PROMPTS_FILE);
  return settings && promptSettings(settings);
}

/**
 * What is put before a text.
 * @param wanted the prompt itself, or its name; without both the usual one
 * @throws RunError 422 for a name that the repository does not have
 */
export function promptBefore(
  { prompts, defaultPrompt }: PromptSettings,
  { prompt, promptName }: { prompt?: string | undefined; promptName?: string | undefined },
): string {
  const name = promptName ?? defaultPrompt;
  return prompt ?? (name === undefined ? '' : namedPrompt(prompts, name, 'params.prompt_name'));
}

/**
 * The prompt of a name.
 * @param field what the caller has named it in
 * @throws RunError 422 for a name that the repository does not have
 */
export function namedPrompt(prompts: SentencePrompts, name: string, field: string): string {
  if (Object.hasOwn(prompts, name)) return prompts[name] ?? '';
  const known = Object.keys(prompts).join(', ') || 'none';
  throw new RunError('unprocessable', `${field}: this model has no prompt "${name}" (it has: ${known})`);
}
