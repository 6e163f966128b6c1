import type { Delta } from '../../../../runtime/core/delta.js';
import type { GeneratedText, GenerateOptions } from '../../../../runtime/core/handles/index.js';
import type { Decoding } from '../../../../runtime/engines/generation/decoding/decoder.js';
import type { TextTokenizer } from '../../../../runtime/engines/tokenizers/tokenizer.js';
import {
  type GenerationSettings,
  mergeSettings,
} from '../../../../runtime/engines/generation/settings/settings.js';

/** Settings of a request to a model whose repository says nothing, or `repository`. */
export function settingsOf(
  request: GenerateOptions,
  { promptLength = 4, repository = {}, source }: SettingsGiven = {},
): GenerationSettings {
  const limits = { contextLength: undefined, hardLimit: false };
  return mergeSettings({ request, repository, promptLength, sourceTokens: source, ...limits });
}

interface SettingsGiven {
  promptLength?: number;
  repository?: Record<string, unknown>;
  source?: number[];
}

/** Token 7 is the text "7 ". */
export const numberTokenizer = {
  decode: (ids: readonly number[]) => ids.map((id) => `${id} `).join(''),
  openBytes: () => 0,
  bytesOf: (id: number) => [...Buffer.from(`${id} `)],
  specialText: () => undefined,
} as unknown as TextTokenizer;

/** A model whose next scores depend on the last token only, by a table of one row per token. */
export function bigram(table: readonly number[], vocabulary: number): Decoding {
  const row = (id: number) => Float32Array.from(table.slice(id * vocabulary, (id + 1) * vocabulary));
  return {
    prefill: async ({ tokens }) => row(tokens.at(-1)!),
    step: async (tokens) => tokens.map(row),
    ...{ reorder: () => {}, end: () => {} },
  };
}

/** Every answer of a generator, read to its end. */
export async function answersOf(
  pieces: AsyncGenerator<string | Delta, GeneratedText[]>,
): Promise<GeneratedText[]> {
  for (;;) {
    const next = await pieces.next();
    if (next.done) return next.value;
  }
}
