import { type Fields, fieldsOf } from '../../../runtime/models/writer/fields.js';
import { familyOf } from '../../../runtime/models/registry.js';
import { transformersMajor } from '../../../runtime/hub-config/version.js';
import { isObject } from '../../../runtime/hub-config/json.js';
import { aliasedField, baseDefaults, classDefaults, type Json } from './library-defaults.js';
import { inertReason } from './inert-fields.js';
import { isServerField } from './server-fields.js';

/** A field that may change an answer, that nothing here reads and that is not what the library takes by default. */
export interface UnreadField {
  /** From the top of config.json: `text_config.norm_topk_prob`. */
  path: string;
  value: unknown;
  /** What the library takes where the file leaves it out; absent where the field is another name of one that is read. */
  usual?: unknown;
}

/**
 * The closed-world rule: what of config.json can change an answer is read, or is the library's default, or is named here.
 * @param config in one form (normalizeConfig); types that neither library has are not judged
 */
export function unreadFields(config: Json, type: string): UnreadField[] {
  const schema = familyOf(type)?.config;
  const majors = (transformersMajor(config) ?? 4) >= 5 ? [5, 4] : [4, 5];
  const usual = defaultsOf(type, majors);
  if (!schema || usual.length === 0) return [];
  return unreadIn(config, { root: type, path: '', type, usual, fields: fieldsOf(schema, config), majors });
}

/** A configuration, or one inside of it. */
interface Level {
  /** Type of the whole model. */
  root: string;
  /** Of the part, with a dot behind each name. */
  path: string;
  type: string;
  /** What its class takes by default, in the version that wrote the file and in the other one. */
  usual: readonly Json[];
  fields: Fields | true;
  majors: readonly number[];
}

const defaultsOf = (type: string, majors: readonly number[]): Json[] =>
  majors.map((major) => classDefaults(type, major)).filter((found) => found !== undefined);

function unreadIn(config: Json, level: Level): UnreadField[] {
  const { fields } = level;
  if (fields === true) return [];
  return Object.entries(config).flatMap(([name, value]) => {
    const read = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (isObject(value) && name.endsWith(DICTIONARY)) return overridden(config, name, level);
    if (read === undefined) return unread(config, name, level);
    return isObject(value) && read !== true ? unreadIn(value, partOf(level, name, value, read)) : [];
  });
}

/** Ending of fields whose entries override those of the part that they are called after, as CLIP's class has it. */
const DICTIONARY = '_dict';

/** Entries that say something else than the part, of which that is read. */
function overridden(config: Json, name: string, { path, fields }: Level): UnreadField[] {
  const of = name.slice(0, -DICTIONARY.length);
  const part = isObject(config[of]) ? config[of] : {};
  const read = fields === true ? true : (fields[of] ?? {});
  return Object.entries(config[name] as Json)
    .filter(([field, value]) => (read === true || Object.hasOwn(read, field)) && !same(value, part[field]))
    .map(([field, value]) => ({ path: `${path}${name}.${field}`, value, usual: part[field] ?? null }));
}

/** A part has the defaults of the type that it names, or those that the whole has for it. */
function partOf(level: Level, name: string, part: Json, fields: Fields): Level {
  const { path, type, usual, majors } = level;
  const given = usual.map((defaults) => defaults[name]).filter(isObject);
  const types = given.map((defaults) => defaults['model_type']);
  const own = typeof part['model_type'] === 'string' ? part['model_type'] : String(types[0] ?? type);
  const isOther = own !== type && !types.includes(own);
  return {
    ...level,
    ...{ path: `${path}${name}.`, type: own, fields },
    usual: isOther ? defaultsOf(own, majors) : given,
  };
}

/** What normalizeConfig leaves of settings that the older form has no words for: its name -> what the file calls it. */
const LEFT_OVER: Readonly<Record<string, string>> = {
  rope_local_scaling: 'rope_parameters.sliding_attention',
  rope_local_partial_rotary_factor: 'rope_parameters.sliding_attention.partial_rotary_factor',
  rope_parameters: 'rope_parameters',
  per_layer_config: 'per_layer_config',
};

function unread(config: Json, name: string, { root, path, type, usual }: Level): UnreadField[] {
  const value = config[name];
  if (Object.hasOwn(LEFT_OVER, name)) return [{ path: path + LEFT_OVER[name]!, value, usual: null }];
  const known = [...usual, baseDefaults()].find((defaults) => Object.hasOwn(defaults, name));
  const meant = aliasedField(type, name);
  if (meant !== undefined && !Object.hasOwn(usual[0] ?? {}, name))
    return same(value, config[meant]) ? [] : [{ path: path + name, value }];
  if (isServerField(name) || inertReason(name, { type, within: `${root}.${path}` }) !== undefined) return [];
  // A field that neither library's class has is kept and read by nothing.
  return !known || same(value, known[name]) ? [] : [{ path: path + name, value, usual: known[name] }];
}

/** Python's False, None and an empty list of layers switch the same thing off. */
const isOff = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === false ||
  (Array.isArray(value) && value.length === 0) ||
  (isObject(value) && Object.keys(value).length === 0);

const same = (a: unknown, b: unknown): boolean => (isOff(a) && isOff(b)) || canonical(a) === canonical(b);

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (isObject(value))
    return `{${Object.keys(value)
      .sort()
      .map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`)
      .join()}}`;
  return typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? 'null');
}
