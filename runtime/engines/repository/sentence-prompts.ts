import { RunError } from '../../core/errors.js';
import { type Json, readOptionalJson } from './model-folder.js';

/** Prompts of sentence-transformers by their names. */
export type SentencePrompts = Readonly<Record<string, string | null>>;

/** @param settings config_sentence_transformers.json; without modules.json the library looks for none */
export const sentencePrompts = (settings: Json | undefined): SentencePrompts => ({
  ...{ query: '', document: '' },
  ...(settings?.['prompts'] as SentencePrompts | undefined),
});

export async function readSentencePrompts(dir: string): Promise<SentencePrompts> {
  const [modules, settings] = await Promise.all([
    readOptionalJson(dir, 'modules.json'),
    readOptionalJson(dir, 'config_sentence_transformers.json'),
  ]);
  return sentencePrompts(modules && settings);
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
