/**
 * Writes builder/plan/config/library-defaults.json from what dump.py wrote for both versions of transformers: the types that
 * graphs are written for, and those of their parts. Usage: node scripts/config-defaults/merge.mjs V4.json V5.json, after a build.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { FAMILIES } from '../../dist/runtime/models/registry.js';
import { parsePythonJson } from '../../dist/runtime/core/python-json.js';

const [old, recent] = process.argv.slice(2, 4).map((file) => parsePythonJson(readFileSync(file, 'utf8')));

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** JSON has no infinity: as version 5 writes it. */
const plain = (value) => {
  if (typeof value === 'number' && !Number.isFinite(value)) return { __float__: String(value) };
  if (Array.isArray(value)) return value.map(plain);
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plain(item)]))
    : value;
};

/** Fields of the base class are kept where a class has other defaults; names of the version say nothing. */
function ownFields(config, base) {
  const kept = Object.entries(config).filter(
    ([name, value]) => name === 'model_type' || !(name in base && same(base[name], value)),
  );
  return Object.fromEntries(
    kept
      .filter(([name]) => name !== 'transformers_version')
      .map(([name, value]) => [
        name,
        isObject(value) && 'model_type' in value ? ownFields(value, base) : plain(value),
      ]),
  );
}

/** Types of parts that models have only where a file names them. */
const OPTIONAL_PARTS = ['gemma4_vision', 'gemma4_unified_vision'];

const wanted = new Set([...FAMILIES.flatMap(({ modelTypes }) => modelTypes), ...OPTIONAL_PARTS]);
const typesIn = (config) =>
  Object.values(config).flatMap((value) =>
    isObject(value) && typeof value.model_type === 'string' ? [value.model_type, ...typesIn(value)] : [],
  );
for (const type of [...wanted])
  for (const { types } of [old, recent])
    for (const part of typesIn(types[type]?.defaults ?? {})) wanted.add(part);

const types = {};
const aliases = {};
for (const type of [...wanted].sort((a, b) => (a < b ? -1 : 1))) {
  const [a, b] = [old, recent].map((all) => all.types[type] && ownFields(all.types[type].defaults, all.base));
  if (!a && !b) continue;
  types[type] = { ...(a ? { 4: a } : {}), ...(b && !same(a, b) ? { 5: b } : {}) };
  const names = { ...recent.types[type]?.aliases, ...old.types[type]?.aliases };
  if (Object.keys(names).length > 0) aliases[type] = names;
}
const lines = (table) =>
  Object.entries(table)
    .map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`)
    .join(',\n');
const base = plain(
  Object.fromEntries(Object.entries(old.base).filter(([name]) => name !== 'transformers_version')),
);
writeFileSync(
  'builder/plan/config/library-defaults.json',
  `{"versions": ${JSON.stringify([old.version, recent.version])},\n"base": ${JSON.stringify(base)},\n"aliases": {\n${lines(aliases)}\n},\n"types": {\n${lines(types)}\n}}\n`,
);
