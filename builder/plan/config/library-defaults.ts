import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { normalizeConfig } from '../../../runtime/hub-config/normalize.js';

export type Json = Readonly<Record<string, unknown>>;

interface Table {
  /** Of transformers, the older one first. */
  versions: readonly [string, string];
  /** Of the base class of all configurations. */
  base: Json;
  /** By model type, other names of fields: name -> the field. */
  aliases: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** By model type and major version, less what the base class has; the later version where it differs. */
  types: Readonly<Record<string, { 4?: Json; 5?: Json }>>;
}

/** Beside this module, in the checkout and in what scripts/build.mjs makes of it. */
const FILE = join(import.meta.dirname, 'library-defaults.json');

let table: Table | undefined;

/** What scripts/config-defaults/ found in both libraries. */
function load(): Table {
  table ??= JSON.parse(readFileSync(FILE, 'utf8')) as Table;
  return table;
}

export const testedVersions = (): readonly [string, string] => load().versions;

/** What the base class takes for fields that all configurations have. */
export const baseDefaults = (): Json => load().base;

/**
 * What Python's class of a model type takes for fields that a file leaves out, in the form of normalizeConfig, parts of a
 * model included; undefined for a type that neither library has.
 * @param major version of transformers that wrote the file
 */
export function classDefaults(type: string, major: number): Json | undefined {
  const { types } = load();
  const found = Object.hasOwn(types, type) ? types[type] : undefined;
  const own = major >= 5 ? (found?.[5] ?? found?.[4]) : (found?.[4] ?? found?.[5]);
  const version = own === found?.[4] ? 4 : 5;
  return own && normalizeConfig({ ...own, transformers_version: `${version}.0` });
}

/** The field that another name stands for in this type's class. */
export function aliasedField(type: string, name: string): string | undefined {
  const names = load().aliases[type];
  return names && Object.hasOwn(names, name) ? names[name] : undefined;
}
