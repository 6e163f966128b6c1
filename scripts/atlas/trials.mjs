/** What trials of exports found (exports.json, which try-exports.mjs writes), in the words of verdicts. */
import { existsSync, readFileSync } from 'node:fs';

export const RESULTS = 'scripts/atlas/exports.json';

/** By task and model type. */
export const trials = existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, 'utf8')).pairs : {};

/** Words of an exporter's error -> why no network of this type can be exported; what is not here stays untried. */
const REFUSALS = [
  [
    /data-dependent|GuardOnDataDependent|Could not guard/i,
    'how it computes depends on the numbers that it reads',
  ],
  [/its cache holds more than keys and values/, 'its cache holds more than keys and values'],
  [/differs from torch by/, 'its graph computes otherwise than torch does'],
  [/No ONNX function found|no ONNX decomposition|has no operator/i, 'one of its operators has none in ONNX'],
  [/complex(?:64|128)|ComplexFloat/i, 'complex numbers have no operator'],
];

/** Why exports of a pair that failed are refused; undefined where the failure may be the tiny network's own. */
export const refusalOf = ({ result, reason }) =>
  result === 'failed' ? REFUSALS.find(([words]) => words.test(reason))?.[1] : undefined;
