/** What trials of exports found (exports.json, which try-exports.mjs writes), in the words of verdicts. */
import { existsSync, readFileSync } from 'node:fs';

export const RESULTS = 'scripts/atlas/exports.json';

/** By task and model type. */
export const trials = existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, 'utf8')).pairs : {};

/** Words of what Python says when it makes the network or runs it by itself -> why this lane can't have it. */
const LIMITS = [
  [/requires the (\w+) library/, (library) => `it needs ${library}, which the tools of exports do not have`],
  [
    /You (?:have to|must) specify|missing \d+ required positional|cannot be `None`/,
    () => 'it reads other inputs than those of the task',
  ],
  [
    /KeyError: 'logits'|no attribute 'logits'/,
    () => "it has no scores, which Python's pipeline asks for, too",
  ],
];

function limitIn(reason) {
  for (const [words, say] of LIMITS) {
    const found = words.exec(reason);
    if (found) return say(found[1]);
  }
  return undefined;
}

/** Words of an exporter's error -> why no network of this type can be exported; what is not here stays untried. */
const REFUSALS = [
  [
    /data-dependent|GuardOnDataDependent|Could not guard/i,
    'how it computes depends on the numbers that it reads',
  ],
  [/its cache holds more than keys, values and states/, 'its cache holds more than keys, values and states'],
  [/Got invalid dimensions for input/, 'its graph has the size of its example'],
  [/it keeps no cache/, 'it keeps no cache that a step could go on from'],
  [/differs from torch by/, 'its graph computes otherwise than torch does'],
  [/No ONNX function found|no ONNX decomposition|has no operator/i, 'one of its operators has none in ONNX'],
  [/complex(?:64|128)|ComplexFloat/i, 'complex numbers have no operator'],
];

/** Why exports of a pair that failed are refused; undefined where the failure may be the tiny network's own. */
export function refusalOf({ result, reason }) {
  if (result === 'differs') return "its answers were not Python's";
  if (result === 'untried') return limitIn(reason);
  return result === 'failed' ? REFUSALS.find(([words]) => words.test(reason))?.[1] : undefined;
}
