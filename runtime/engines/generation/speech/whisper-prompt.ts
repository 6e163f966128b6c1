import { RunError } from '../../../core/errors.js';
import type { SpeechOptions } from '../../../core/handles/index.js';
import type { Json } from '../../repository/model-folder.js';
import { codeOfLanguage } from './whisper-languages.js';

/** What generation_config.json says of the tokens that Whisper begins with. */
export interface WhisperTokens {
  /** `<|startoftranscript|>` */
  start: number;
  /** `<|de|>` to its token; empty for models of one language. */
  languages: Readonly<Record<string, number>>;
  tasks: Readonly<Record<string, number>>;
  /** `<|notimestamps|>`, after which the tokens of times come; undefined in old repositories. */
  noTimestamps: number | undefined;
  /** Tokens after the first, by position, in old repositories: null is a language to be detected. */
  forced: readonly (readonly [position: number, token: number | null])[];
  /** The repository's own language and task. */
  language: string | undefined;
  task: string | undefined;
  isMultilingual: boolean;
}

/**
 * @param generation generation_config.json
 * @param config config.json
 */
export function whisperTokens(generation: Json, config: Json): WhisperTokens {
  const start = generation['decoder_start_token_id'] ?? config['decoder_start_token_id'];
  if (typeof start !== 'number') throw new RunError('not_ready', 'the model names no decoder_start_token_id');
  const text = (name: string) => (typeof generation[name] === 'string' ? generation[name] : undefined);
  return {
    start,
    languages: (generation['lang_to_id'] ?? {}) as Record<string, number>,
    tasks: (generation['task_to_id'] ?? {}) as Record<string, number>,
    noTimestamps: generation['no_timestamps_token_id'] as number | undefined,
    forced: (generation['forced_decoder_ids'] ?? config['forced_decoder_ids'] ?? []) as [
      number,
      number | null,
    ][],
    ...{ language: text('language'), task: text('task') },
    isMultilingual: generation['is_multilingual'] !== false,
  };
}

export interface PromptChoice extends Pick<SpeechOptions, 'language' | 'task'> {
  timestamps: boolean;
}

/**
 * The tokens that the text begins with (WhisperGenerationMixin._retrieve_init_tokens).
 * @param detect finds the language of the audio: called where neither request nor repository names one
 * @throws RunError 422 for a language or task that the model does not have
 */
export async function whisperPrompt(
  tokens: WhisperTokens,
  choice: PromptChoice,
  detect: () => Promise<number>,
): Promise<number[]> {
  if (!tokens.isMultilingual) refuseChoice(choice);
  const language = choice.language ?? tokens.language;
  const task = choice.task ?? tokens.task;
  const prompt: (number | null)[] = [tokens.start];
  if (language === undefined && task === undefined) prompt.push(...forcedPrompt(tokens));
  const found = await languageToken(tokens, { language, prompt, detect });
  if (found !== undefined) prompt[1] = found;
  addTask(prompt, tokens, { language, task });
  addTimestamps(prompt, tokens, choice.timestamps);
  return prompt.filter((token) => token !== null);
}

/** Code of the language that a prompt names; English where the model knows no other. */
export function languageIn(
  prompt: readonly number[],
  { languages, isMultilingual }: WhisperTokens,
): string | undefined {
  const found = Object.keys(languages).find((name) => prompt.includes(languages[name]!));
  return found?.slice(2, -2) ?? (isMultilingual ? undefined : 'en');
}

function refuseChoice({ language, task }: PromptChoice): void {
  const name = language != null ? 'language' : task != null ? 'task' : undefined;
  if (name)
    throw new RunError('unprocessable', `params.${name}: this model knows one language and task only`);
}

/** The run of positions from 1 on. */
function forcedPrompt({ forced }: WhisperTokens): (number | null)[] {
  const found: (number | null)[] = [];
  for (const [position, token] of forced) {
    if (position !== found.length + 1) break;
    found.push(token);
  }
  return found;
}

interface LanguageChoice {
  language: string | undefined;
  prompt: readonly (number | null)[];
  detect: () => Promise<number>;
}

async function languageToken(
  { languages }: WhisperTokens,
  { language, prompt, detect }: LanguageChoice,
): Promise<number | undefined> {
  if (language !== undefined) return namedLanguage(languages, language);
  const isOpen = prompt.length <= 1 || prompt[1] === null;
  return isOpen && Object.keys(languages).length > 0 ? detect() : undefined;
}

function namedLanguage(languages: WhisperTokens['languages'], given: string): number {
  const name = given.toLowerCase();
  const token = [name, `<|${codeOfLanguage(name)}|>`]
    .filter((one) => Object.hasOwn(languages, one))
    .map((one) => languages[one])[0];
  if (token !== undefined) return token;
  const known = Object.keys(languages).map((one) => one.slice(2, -2));
  throw new RunError(
    'unprocessable',
    known.length === 0
      ? 'params.language: the repository names no languages (lang_to_id of generation_config.json)'
      : `params.language: ${given} is not known to this model; it knows ${known.join(', ')}`,
  );
}

function addTask(
  prompt: (number | null)[],
  { tasks }: WhisperTokens,
  { language, task }: { language: string | undefined; task: string | undefined },
): void {
  if (task !== undefined) {
    const token = tasks[task];
    if (token !== undefined) return void prompt.push(token);
    throw new RunError('unprocessable', `params.task: ${task} is not known to this model`);
  }
  const isGiven = Object.values(tasks).some((token) => prompt.includes(token));
  if (language !== undefined && tasks['transcribe'] !== undefined && !isGiven)
    prompt.push(tasks['transcribe']);
}

function addTimestamps(
  prompt: (number | null)[],
  { noTimestamps }: WhisperTokens,
  timestamps: boolean,
): void {
  if (noTimestamps === undefined) return;
  const last = prompt.at(-1);
  if (!timestamps && last !== noTimestamps) prompt.push(noTimestamps);
  if (timestamps && last === noTimestamps) prompt.pop();
}
