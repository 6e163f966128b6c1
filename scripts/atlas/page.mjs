/** docs/atlas.md: what `builder plan` says of every model type of transformers that has a class for one of our tasks. */
import { readFileSync } from 'node:fs';
import { findRecipes } from '../../dist/builder/export/recipes/index.js';
import { verdictOf } from '../../dist/builder/export/known.js';
import { chooseEngine } from '../../dist/builder/plan/choose-engine.js';
import { Refusal } from '../../dist/builder/plan/refusal.js';
import { readersOf } from '../../dist/runtime/models/readers.js';
import { hasWriter } from '../../dist/runtime/models/write-graphs.js';
import { taskOf } from '../../dist/runtime/tasks/registry.js';
import { trials } from './trials.mjs';

const { transformers, tasks, saved } = JSON.parse(readFileSync('scripts/atlas/classes.json', 'utf8'));
const SIZES = JSON.parse(readFileSync('scripts/atlas/default-sizes.json', 'utf8'));

/** Verdicts, in the order of the page. */
const KINDS = {
  written: 'the builder writes the graph',
  exported:
    "transformers' exporter makes the graph, and answers were compared with Python's: of tiny networks with random weights, the graph with torch at several sizes of batch and lengths, one to three served answers with the pipeline (`scripts/atlas/try-exports.mjs`, `exports.json` there has each trial)",
  untried: '`--export force` tries an export; the probes decide',
  refused: 'exports are known to be wrong or impossible',
  none: 'neither a writer nor a recipe: an ONNX export of the repository is needed',
};

/** The head that a task loads of a type; undefined where the task has no engine for it. */
export function headOf(task, type) {
  try {
    return chooseEngine(taskOf(task), type).binding.head;
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

const isPrompted = (task, type) => {
  const { blocks } = taskOf(task);
  return blocks === undefined || Object.hasOwn(readersOf({ model_type: type }).prompts ?? {}, blocks);
};

/** Fields that any configuration with texts has. */
const TEXTS = { vocab_size: 1000 };

/** Whether a recipe takes this type, for all that its class says and a trial showed. */
function isPlanned(task, type, head) {
  const config = { model_type: type, architectures: [tasks[task][type]], ...TEXTS, text_config: TEXTS };
  // Exported graphs read images of one size.
  const recipe = findRecipes({ head, config, processing: { keep_aspect_ratio: false } });
  return typeof recipe === 'object' && trials[task]?.[type]?.result !== 'unplanned';
}

function isWritten(task, type) {
  const head = headOf(task, type);
  return head !== undefined && hasWriter(type, head) && isPrompted(task, type);
}

/** Tasks of ours that the classes of one of transformers' tasks do, too: it has none for captions any more. */
const OTHER_TASKS = {
  'image-text-to-text': ['image-to-text', 'visual-question-answering'],
  'automatic-speech-recognition': ['audio-text-to-text'],
};

/** @returns {{kind: keyof typeof KINDS, reason?: string}} */
export function verdict(task, type) {
  // Checkpoints of such a type say that they are of another.
  const other = saved[type];
  if (tasks[task][other]) return { ...verdict(task, other), reason: `as ${other}` };
  return ownVerdict(task, type);
}

function ownVerdict(task, type) {
  if (isWritten(task, type)) return { kind: 'written' };
  const other = OTHER_TASKS[task]?.find((one) => isWritten(one, type));
  if (other !== undefined) return { kind: 'written', reason: `as ${other}` };
  const head = headOf(task, type);
  if (head === undefined) return { kind: 'none' };
  const known = verdictOf(type, head);
  if (known.kind === 'exports') return { kind: 'exported' };
  if (known.kind === 'refused') return { kind: 'refused', reason: known.reason };
  return { kind: isPlanned(task, type, head) ? 'untried' : 'none' };
}

export function verdicts() {
  return Object.entries(tasks).map(([task, types]) => ({
    task,
    found: Object.keys(types).map((type) => ({ type, ...verdict(task, type) })),
  }));
}

const count = (found, kind) => found.filter((one) => one.kind === kind).length;

/** A type counts once, by the best verdict that one of its tasks has. */
function bestOfTypes(all) {
  const kinds = Object.keys(KINDS);
  const best = new Map();
  for (const { type, kind } of all.flatMap(({ found }) => found)) {
    const rank = Math.min(kinds.indexOf(kind), best.get(type) ?? Infinity);
    best.set(type, rank);
  }
  return [...best].map(([type, rank]) => ({ type, kind: kinds[rank] }));
}

const row = (name, found) =>
  `| ${name} | ${found.length} | ${Object.keys(KINDS)
    .map((kind) => count(found, kind))
    .join(' | ')} |`;

function section({ task, found }) {
  const lists = Object.keys(KINDS).flatMap((kind) => {
    const types = found.filter((one) => one.kind === kind);
    const names = types.map(({ type, reason }) => (reason ? `${type} (${reason})` : type));
    return names.length > 0 ? [`- ${kind}: ${names.join(', ')}`] : [];
  });
  return [`## ${task}`, '', ...lists, ''].join('\n');
}

const billions = (count) => (count / 1e9).toFixed(count < 1e8 ? 3 : 2);
const gigabytes = (bytes) => (bytes / 1e9).toFixed(bytes < 1e8 ? 2 : 1);

/** Some classes can't be made by their own defaults, or without timm. */
const reasonOf = (type, { refused, error }) =>
  refused?.replace(`default/${type} has`, 'it has') ?? (error && `Python: ${error.trim()}`) ?? 'not tried';

/** What the plan says of written types at the size that their class has by default, by the first task of each. */
function sizesSection(all) {
  const written = new Map();
  for (const { task, found } of all)
    for (const { type, kind, reason } of found)
      if (kind === 'written' && !reason && !written.has(type))
        written.set(type, { task, said: SIZES[task]?.[type] ?? {} });
  const rows = [...written].sort(([a], [b]) => (a < b ? -1 : 1));
  const served = rows.filter(([, { said }]) => said.bytes !== undefined);
  const others = rows.filter(([, { said }]) => said.bytes === undefined);
  return [
    '## Sizes of the defaults',
    '',
    'Written types at the size that their class has by default, in 32 bits, as `scripts/atlas/default_checkpoints.py | scripts/atlas/default-sizes.mjs` found',
    'it: names and shapes are those of the class, the numbers are left out. Memory is what the plan predicts for the server.',
    '',
    '| type | task | parameters (10^9) | weights (GB) | memory (GB) |',
    '| --- | --- | --- | --- | --- |',
    ...served.map(
      ([type, { task, said }]) =>
        `| ${type} | ${task} | ${billions(said.parameters)} | ${gigabytes(said.bytes)} | ${gigabytes(said.peakBytes)} |`,
    ),
    '',
    'Not planned at those defaults:',
    '',
    ...others.map(([type, { task, said }]) => `- ${type} (${task}): ${reasonOf(type, said)}`),
    '',
  ];
}

export function atlasPage(notice) {
  const all = verdicts();
  const heads = ['task', 'types', ...Object.keys(KINDS)];
  return [
    notice,
    `# Model types of transformers ${transformers}`,
    '',
    'What `builder plan` says of a checkpoint of each type that has a class for one of our tasks (`scripts/atlas/dump.py` lists them). A type is',
    'meant with weights in safetensors and the files that its class reads; repositories with an ONNX export of their own, and files of GGUF, are served beyond this list.',
    '',
    ...Object.entries(KINDS).map(([kind, meaning]) => `- ${kind}: ${meaning}`),
    '',
    `| ${heads.join(' | ')} |`,
    `| ${heads.map(() => '---').join(' | ')} |`,
    row('any of them', bestOfTypes(all)),
    ...all.map(({ task, found }) => row(task, found)),
    '',
    ...all.map(section),
    ...sizesSection(all),
  ].join('\n');
}
