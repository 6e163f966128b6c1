/** A bench of servers that answer one text, or one image, with one JSON value. */
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
 * `probe` is the kind of inputs that each contestant gets alone, and whose answers are compared unless `compared` names
 * another kind; `inputsOf` gives those of a kind.
 */
export async function runTextBench(name, { all, options, agreement: rule, probe, ...inputs }) {
  const { inputsOf = textsOf, compared = probe } = inputs;
  const chosen = chooseContestants(all, options.only);
  const ceiling = await loadCeiling();
  const alike = inputsOf(compared);
  const one = inputsOf(probe);
  const { rows: agreement, answering: contestants } = await checkAgreement(chosen, alike.slice(0, 12), rule);
  const alone = options.memory
    ? await runAlone({
        contestants,
        request: ({ request }) => request(one[0]),
        underLoad: ({ request }) => ({
          ...{ connections: 32, seconds: options.seconds, requests: one.map(request) },
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
