import { normalizeConfig } from '../../hub-config/normalize.js';
import { type Json, readJson, readOptionalJson } from './model-folder.js';

/** config.json of the model's folder in one form, whichever version of transformers wrote it. @throws RunError if there is none */
export const readModelConfig = async (dir: string): Promise<Json> =>
  normalizeConfig(await readJson(dir, 'config.json'));

/** The same, or undefined when the repository has none. */
export async function readOptionalModelConfig(dir: string): Promise<Json | undefined> {
  const config = await readOptionalJson(dir, 'config.json');
  return config && normalizeConfig(config);
}
