import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RunError } from '../../core/errors.js';
import { parsePythonJson } from '../../core/python-json.js';

export type Json = Record<string, unknown>;

/** Text of a file of the model's folder, or undefined when the repository has none. */
export async function readOptionalText(dir: string, name: string): Promise<string | undefined> {
  try {
    return await readFile(join(dir, name), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** A JSON file of the model's folder, or undefined when the repository has none. */
export async function readOptionalJson<T = Json>(dir: string, name: string): Promise<T | undefined> {
  const text = await readOptionalText(dir, name);
  return text === undefined ? undefined : (jsonOf(name, text) as T);
}

/** @throws RunError for what is not JSON */
export function jsonOf(name: string, text: string): Json {
  try {
    return parsePythonJson(text);
  } catch (cause) {
    throw new RunError('not_ready', `the model's ${name} is not valid JSON`, { cause });
  }
}

/** As readOptionalJson, for a file without which the model can't be loaded. */
export async function readJson<T = Json>(dir: string, name: string): Promise<T> {
  const value = await readOptionalJson<T>(dir, name);
  if (value === undefined) throw new RunError('not_ready', `the model has no ${name}`);
  return value;
}

/** What config.json says of the language model, in models that read more than text. */
export function textConfig(config: Json): Json {
  return (config['text_config'] ?? config) as Json;
}

/** A finite positive number under the first of these names, or undefined. */
export function firstNumber(json: Json, ...names: string[]): number | undefined {
  for (const name of names) {
    const value = json[name];
    if (typeof value === 'number' && Number.isFinite(value) && value > 0) return value;
  }
  return undefined;
}
