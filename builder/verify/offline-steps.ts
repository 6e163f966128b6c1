import { BuilderError } from '../exit.js';
import { answerDigest, type Golden } from '../seal/golden.js';
import type { InsideAnswer } from '../seal/inside.js';
import { differenceOf } from './answer.js';
import { totalAttempts } from './counters.js';
import type { OfflineRun } from './offline-run.js';
import { type Step, stepOf } from './proof.js';

/** The step that fails on any network attempt. */
export function networkStep({ attempts, targets }: OfflineRun): Step {
  if (attempts === undefined)
    return stepOf('network', 'no network', ['the container has ended: nothing could be counted']);
  if (totalAttempts(attempts) === 0) return stepOf('network', 'no network, and no attempt to reach one', []);
  const { noRoute, refused, datagrams } = attempts;
  const counted = [
    [noRoute, 'without a route'],
    [refused, 'to the loopback, accepted by nobody'],
    [datagrams, 'datagrams on the loopback, taken by nobody'],
  ] as const;
  const counts = counted.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  const unknown =
    'the target is not known: no JavaScript made the attempt; run the image with strace to see it';
  return stepOf(
    'network',
    `attempts to leave: ${counts.join(', ')}`,
    targets.length > 0 ? targets : [unknown],
  );
}

/** The golden step, and whether the answer was exactly equal. */
export interface GoldenResult {
  exact: boolean;
  step: Step;
}

/** @param exact require the same bytes on any CPU */
export function goldenStep({ answer, cpu }: OfflineRun, golden: Golden, exact: boolean): GoldenResult {
  const on = `recorded on ${golden.recordedOn.cpu} (${golden.recordedOn.platform})`;
  if (answer instanceof BuilderError)
    return { exact: false, step: stepOf('golden', 'no answer', [answer.message]) };
  if (answer.status === 200 && answerDigest(answer.bytes) === golden.sha256)
    return { exact: true, step: stepOf('golden', `the same bytes as ${on}`, []) };
  const difference = differenceFrom(answer, golden);
  if (difference !== undefined)
    return { exact: false, step: stepOf('golden', `another answer than ${on}`, [difference]) };
  const demanded = exact ? [`the bytes differ, and --exact was given; this machine has ${cpu}`] : [];
  return {
    exact: false,
    step: stepOf('golden', `the same within 0.001; ${on}, and this is ${cpu}`, demanded),
  };
}

function differenceFrom(
  { status, contentType, bytes }: InsideAnswer,
  { response }: Golden,
): string | undefined {
  if (status !== 200) return `the status is ${status}: ${bytes.toString('utf8').slice(0, 200)}`;
  if (contentType !== response.contentType)
    return `the content type is ${contentType}, and was ${response.contentType}`;
  if (response.base64 !== undefined) return 'the bytes differ';
  try {
    return differenceOf(JSON.parse(bytes.toString('utf8')), response.body);
  } catch {
    return 'the answer is no JSON';
  }
}
