/**
 * Moves files and folders, and rewrites every relative path in the sources that leads to or from them.
 * Usage: node scripts/codemods/move-files.mjs MOVES.json   ({"old/path": "new/path"}; a folder moves with all that is in it)
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';

const git = (...args) => execFileSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 26 });
const files = git('ls-files').split('\n').filter(Boolean);
const known = new Set(files);

/** Old path of each file -> new path; the most exact entry counts. */
function movesOf(entries) {
  const sorted = Object.entries(entries).toSorted(([a], [b]) => b.length - a.length);
  const moves = new Map();
  for (const file of files) {
    const entry = sorted.find(([from]) => file === from || file.startsWith(`${from}/`));
    if (entry) moves.set(file, entry[1] + file.slice(entry[0].length));
  }
  return moves;
}

/** The tracked file that a specifier means, seen from a folder. */
function resolve(folder, specifier) {
  const path = normalize(join(folder, specifier));
  const candidates = [path, path.replace(/\.js$/, '.ts'), path.replace(/\.js$/, '.tsx')];
  return candidates.find((candidate) => known.has(candidate));
}

function specifierTo(from, to, old) {
  const path = relative(dirname(from), to);
  const dotted = path.startsWith('.') ? path : `./${path}`;
  return old.endsWith('.js') ? dotted.replace(/\.tsx?$/, '.js') : dotted;
}

/** A file's text with its relative paths seen from its new place. */
function rewritten(file, moves) {
  const text = readFileSync(file, 'utf8');
  const place = moves.get(file) ?? file;
  return text.replaceAll(/(['"`])(\.{1,2}\/[\w@./-]+)\1/g, (whole, quote, specifier) => {
    const target = resolve(dirname(file), specifier);
    if (!target || (!moves.has(target) && place === file)) return whole;
    return quote + specifierTo(place, moves.get(target) ?? target, specifier) + quote;
  });
}

const moves = movesOf(JSON.parse(readFileSync(process.argv[2], 'utf8')));
const taken = [...moves.values()].filter(
  (to, i, all) => all.indexOf(to) !== i || (known.has(to) && !moves.has(to)),
);
if (taken.length > 0) throw new Error(`two files would have one path: ${taken.join(', ')}`);
const sources = files.filter((file) => /\.(?:ts|tsx|mjs|cjs|js)$/.test(file) && existsSync(file));
const texts = new Map(sources.map((file) => [file, rewritten(file, moves)]));
for (const [file, text] of texts) if (text !== readFileSync(file, 'utf8')) writeFileSync(file, text);
for (const [from, to] of moves) {
  mkdirSync(dirname(to), { recursive: true });
  git('mv', from, to);
}
process.stderr.write(`${moves.size} files moved\n`);
