/** A bench of servers that answer one text, or one picture, with one JSON value. */
import { checkAgreement } from './agreement.mjs';
import { loadCeiling } from './ceiling.mjs';
import { chooseContestants } from './options.mjs';
import { report, rowsOf, runAlone, runRounds } from './rounds.mjs';
import { textsOf } from './texts.mjs';

const COLUMNS = [
  ['req/s', 'rate'],
  ...[50, 95, 99].map((p) => [`p${p} ms`, `p${p}`]),
  ['CPU ms', 'cpuMs', 2],
  ['others', 'othersCores', 2],
];

/**
 * `probe` is the kind of inputs whose answers are compared and which each contestant gets alone; `inputsOf` gives those of
 * a kind.
 */
export async function runTextBench(name, { all, options, agreement: rule, probe, inputsOf = textsOf }) {
  const chosen = chooseContestants(all, options.only);
  const ceiling = await loadCeiling();
  const inputs = inputsOf(probe);
  const { rows: agreement, answering: contestants } = await checkAgreement(chosen, inputs.slice(0, 12), rule);
  const alone = options.memory
    ? await runAlone({
        contestants,
        request: ({ request }) => request(inputs[0]),
        underLoad: ({ request }) => ({
          ...{ connections: 32, seconds: options.seconds, requests: inputs.map(request) },
        }),
      })
    : [];
  const measured = await runRounds({
    ...{ contestants, cells: options.cells, rounds: options.rounds, seconds: options.seconds },
    workload: ({ kind }) => ({ requestsOf: ({ request }) => inputsOf(kind).map(request) }),
  });
  report(name, {
    ...{ options, ceiling, measured },
    tables: {
      'Answers agree': agreement,
      ...(options.memory && { 'Each alone': alone }),
      'Load (medians over rounds)': rowsOf(measured, { columns: COLUMNS }),
    },
  });
}
