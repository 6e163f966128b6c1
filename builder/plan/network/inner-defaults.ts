import { isObject, modelTypeOf } from '../../../runtime/hub-config/json.js';
import { classDefaults } from '../config/library-defaults.js';
import { type Json } from './config-fields.js';

/**
 * What transformers takes for fields that a configuration inside of another leaves out: the defaults of its own type, which the
 * outer class knows where the file doesn't name it. Empty where there is none, or its type is in no library.
 * @param name `text_config`, `vision_config` …
 */
export function innerDefaults(config: Json, name: string): Json {
  const given = config[name];
  if (!isObject(given)) return {};
  const outerType = modelTypeOf(config) ?? '';
  const usual = classDefaults(outerType, 5)?.[name];
  const outer = isObject(usual) ? usual : {};
  const type = given['model_type'] ?? outer['model_type'];
  // Some vision encoders have the name of the whole model: the outer class has their defaults.
  if (typeof type !== 'string' || type === outerType) return outer;
  return classDefaults(type, 5) ?? (type === outer['model_type'] ? outer : {});
}
