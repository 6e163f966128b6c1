import type { GenerateOptions } from '../../../../runtime/core/handles.js';
import { type GenerationSettings, readSettings } from '../../../../runtime/engines/generation/settings.js';

/** Settings of a request to a model whose repository says nothing, or `repository`. */
export function settingsOf(
  request: GenerateOptions,
  { promptLength = 4, repository = {} }: { promptLength?: number; repository?: Record<string, unknown> } = {},
): GenerationSettings {
  return readSettings({ request, repository, promptLength, contextLength: undefined, hardLimit: false });
}
