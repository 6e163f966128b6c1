/**
 * Brings the models of test/fixtures/packs to where tests read them, test/fixtures/<root>/<task>/<name>, which git ignores.
 * Test runs do it by themselves.
 * Usage: node scripts/packing/unpack.mjs
 */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { contentsOf, FIXTURES, packedModels, packOf, readPack, sha256 } from './format.mjs';

const CACHE = join(import.meta.dirname, '../../.cache/fixtures');
/** What was unpacked last, by model: the digest of its pack, and its files. */
const UNPACKED = join(CACHE, 'unpacked.json');

/** Others that do the same at the same time write the same bytes, and readers always see a whole file. */
function place(path, content) {
  mkdirSync(dirname(path), { recursive: true });
  mkdirSync(CACHE, { recursive: true });
  const unfinished = join(CACHE, randomUUID());
  writeFileSync(unfinished, content);
  renameSync(unfinished, path);
}

const filesOf = (model, names) => names.map((name) => join(FIXTURES, model, name));

function unpack(model, pack, before) {
  const digest = sha256(readFileSync(pack));
  if (before?.digest === digest && filesOf(model, before.files).every((file) => existsSync(file)))
    return before;
  const files = [];
  for (const { name, content } of contentsOf(readPack(pack))) {
    place(join(FIXTURES, model, name), content);
    files.push(name);
  }
  remove(model, before?.files.filter((name) => !files.includes(name)) ?? []);
  return { digest, files };
}

const remove = (model, names) => filesOf(model, names).forEach((file) => rmSync(file, { force: true }));

/**
 * Writes the models whose packs are others than last time, or whose files are gone. Files that a script has made over since
 * stay as long as their pack does: test/unit/packs.test.ts fails until they are packed.
 */
export function unpackFixtures() {
  const before = existsSync(UNPACKED) ? JSON.parse(readFileSync(UNPACKED, 'utf8')) : {};
  const models = packedModels();
  const now = Object.fromEntries(models.map((model) => [model, unpack(model, packOf(model), before[model])]));
  for (const [model, { files }] of Object.entries(before)) if (!now[model]) remove(model, files);
  if (JSON.stringify(now) !== JSON.stringify(before)) place(UNPACKED, JSON.stringify(now));
}

if (process.argv[1] === import.meta.filename) unpackFixtures();
