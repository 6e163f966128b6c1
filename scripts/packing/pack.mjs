/**
 * Packs models of test/fixtures, which git ignores where they lie, into test/fixtures/packs: run it after a script of
 * scripts/fixtures has made or changed some.
 * Usage: node scripts/packing/pack.mjs [zoo-own/task/name …]   (all that are not as they were packed, or those named)
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { findDraw, findHalfDraw, streamOf } from './find-draws.mjs';
import * as packs from './format.mjs';
import { tensorsOf } from './tensors.mjs';

const { FIXTURES, filesUnder, packOf, sha256 } = packs;

/** Seeds that the scripts of scripts/fixtures take, and those of the open reference models. */
const SEEDS = Array.from({ length: 64 }, (_, seed) => seed);
/** The longest way into a stream of random words that a model has taken. */
const WORDS = 1_500_000;
/** Files of this size are kept once for all models that have them. */
const SHARED_BYTES = 1024;

const brotli = (content) =>
  brotliCompressSync(content, {
    params: {
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
    },
  });

const streams = new Map();

function stream(seed) {
  if (!streams.has(seed)) streams.set(seed, streamOf(seed, WORDS));
  return streams.get(seed);
}

/** A model takes one seed or two: those that were found last are tried first. */
const recent = [...SEEDS];

const FINDERS = { single: [Float32Array, findDraw], half: [Uint16Array, findHalfDraw] };

function drawOf(content, { at, bytes, dims, type }) {
  const [Numbers, find] = FINDERS[type];
  const values = new Numbers(Uint8Array.prototype.slice.call(content, at, at + bytes).buffer);
  for (const seed of recent) {
    const draw = find(stream(seed), values, dims);
    if (!draw) continue;
    recent.splice(recent.indexOf(seed), 1);
    recent.unshift(seed);
    return draw;
  }
  return undefined;
}

/** What a file is put together from: its header in the pack, and the bytes that follow there. */
function packed(name, content) {
  const parts = [];
  const data = [];
  let end = 0;
  const plain = (to) => {
    if (to > end) parts.push({ bytes: to - end });
    data.push(content.subarray(end, to));
  };
  for (const place of tensorsOf(name, content)) {
    plain(place.at);
    const stored = content.subarray(place.at, place.at + place.bytes);
    const draw = place.type ? drawOf(content, place) : undefined;
    if (draw) {
      const { steps, ...recipe } = draw;
      parts.push({ bytes: place.bytes, draw: recipe });
      data.push(Buffer.from(steps.buffer));
    } else {
      parts.push({ bytes: place.bytes, width: place.width });
      data.push(packs.split(stored, place.width));
    }
    end = place.at + place.bytes;
  }
  plain(content.length);
  return { parts, data };
}

function write(file, files, contents) {
  const header = Buffer.from(JSON.stringify(files));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(header.length);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, brotli(Buffer.concat([length, header, ...contents])));
}

function packModel(model, shared) {
  const files = [];
  const contents = [];
  for (const name of filesUnder(join(FIXTURES, model))) {
    const content = readFileSync(join(FIXTURES, model, name));
    const digest = sha256(content);
    if (shared.has(digest)) {
      share(digest, name, content);
      files.push({ name, sha256: digest });
    } else {
      const { parts, data } = packed(name, content);
      files.push({ name, sha256: digest, parts });
      contents.push(...data);
    }
  }
  write(packOf(model), files, contents);
}

function share(digest, name, content) {
  if (existsSync(packs.sharedPack(digest))) return;
  const { parts, data } = packed(name, content);
  write(packs.sharedPack(digest), [{ name: digest, sha256: digest, parts }], data);
}

const foldersIn = (folder) =>
  (existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [])
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

const modelsIn = (root) =>
  foldersIn(join(FIXTURES, root)).flatMap((task) =>
    foldersIn(join(FIXTURES, root, task)).map((name) => join(root, task, name)),
  );

/** Digests of files that more than one place has. */
function sharedDigests(models) {
  const [once, more] = [new Set(), new Set()];
  for (const model of models) {
    for (const name of filesUnder(join(FIXTURES, model))) {
      const content = readFileSync(join(FIXTURES, model, name));
      const digest = sha256(content);
      if (content.length >= SHARED_BYTES) (once.has(digest) ? more : once).add(digest);
    }
  }
  return more;
}

/** Whether the pack holds what lies in the folder. */
function isPacked(model) {
  if (!existsSync(packOf(model))) return false;
  const folder = join(FIXTURES, model);
  const { files } = packs.readPack(packOf(model));
  const digests = Object.fromEntries(files.map(({ name, sha256: digest }) => [name, digest]));
  const names = filesUnder(folder);
  return (
    names.length === files.length &&
    names.every((name) => digests[name] === sha256(readFileSync(join(folder, name))))
  );
}

/** Removes the packs of models that are gone, and of files that no model has any more. */
function tidy(models) {
  for (const model of packs.packedModels()) if (!models.includes(model)) rmSync(packOf(model));
  const used = new Set(
    models.flatMap((model) => packs.readPack(packOf(model)).files.map(({ sha256: digest }) => digest)),
  );
  for (const name of filesUnder(packs.SHARED))
    if (!used.has(name.slice(0, -'.pack'.length))) rmSync(join(packs.SHARED, name));
}

const models = packs.ROOTS.flatMap(modelsIn);
const asked = process.argv.slice(2);
const shared = sharedDigests(models);
for (const model of models) {
  if (asked.length > 0 ? !asked.includes(model) : isPacked(model)) continue;
  packModel(model, shared);
  console.log(model);
}
tidy(models);
