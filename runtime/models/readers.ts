import type { ModelReaders } from '../core/readers.js';
import { isObject } from '../hub-config/json.js';
import { EXPORTED } from './exported.js';
import type { ReadersOf } from './family.js';
import { familyOf } from './registry.js';

type Json = Readonly<Record<string, unknown>>;

/** What of the server reads a model, by its family. Pure. @param config config.json in the form of normalizeConfig */
export function readersOf(config: Json): ModelReaders {
  const { text_config: text, decoder } = config;
  const { rope } = isObject(text) ? ownReaders(text) : {};
  const inner = isObject(text) ? text : decoder;
  const { positions } = isObject(inner) ? ownReaders(inner) : {};
  return { ...(rope && { rope }), ...(positions && { positions }), ...ownReaders(config) };
}

function ownReaders(config: Json): ModelReaders {
  const type = typeof config['model_type'] === 'string' ? config['model_type'] : '';
  const readers: ReadersOf | undefined =
    familyOf(type)?.readers ?? (Object.hasOwn(EXPORTED, type) ? EXPORTED[type]!.readers : undefined);
  return (typeof readers === 'function' ? readers(config) : readers) ?? {};
}
