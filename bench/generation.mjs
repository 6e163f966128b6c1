/**
 * Streams of generated text beside other servers, on a Llama of 130 million parameters: node bench/generation.mjs
 * --help. docs/benchmarks.md says what the columns mean.
 */
import { benchModel } from './lib.mjs';
import { checkAgreement, samePrefix } from './lib/agreement.mjs';
import { loadCeiling } from './lib/ceiling.mjs';
import { genai, llamaCpp, naive, NEW_TOKENS, raw, slipway } from './lib/decoders.mjs';
import { chooseContestants, readOptions } from './lib/options.mjs';
import { report, rowsOf, runAlone, runRounds } from './lib/rounds.mjs';
import { prompts } from './lib/texts.mjs';

const CELLS = ['streams@1', 'streams@4', 'streams@8', 'newcomer@8'];
const COLUMNS = [
  ['tokens/s', 'tokens'],
  ['TTFT p50 ms', 'firstp50', 0],
  ['TTFT p95 ms', 'firstp95', 0],
  ['ITL p50 ms', 'gapp50'],
  ['ITL p95 ms', 'gapp95'],
  ['newcomer TTFT p50 ms', 'newcomerp50', 0],
  ['CPU ms/token', 'cpuMsPerToken'],
  ['others', 'othersCores', 2],
];

const options = readOptions(
  { cells: CELLS, rounds: 3, seconds: 15 },
  { dtypes: { type: 'string' }, fused: { type: 'boolean' } },
);
const dtypes = options.dtypes?.split(',') ?? ['fp32', 'q8', 'q4'];
const dir = options.fused
  ? benchModel('bench_decoder.py', { name: 'bench_decoder_fused', flags: ['--fused'] })
  : benchModel('bench_decoder.py');
const texts = prompts();

/** Every contestant on one weight format. */
async function family(dtype) {
  const all = [slipway, naive, genai, llamaCpp, raw].map((make) => make({ dir, dtype }));
  const chosen = chooseContestants(all, options.only);
  const { rows: agreement, answering: contestants } = await checkAgreement(chosen, texts.slice(0, 4), {
    ...{ likeness: samePrefix, title: 'same start', limit: dtype === 'fp32' ? 0.5 : 0 },
    // Another quantisation is another model: llama.cpp's answers are its own there.
    comparable: ({ name }) => dtype === 'fp32' || name !== 'llama.cpp',
  });
  const requestsOf = ({ request }) => texts.map(request);
  const job = { tokens: NEW_TOKENS, seconds: options.seconds };
  const alone = options.memory
    ? await runAlone({
        contestants,
        request: ({ request }) => request(texts[0]),
        underLoad: (each) => ({ ...job, connections: 8, requests: requestsOf(each) }),
      })
    : [];
  const cells = options.cells.map((cell) => ({
    ...{ ...cell, name: `${dtype} ${cell.name}`, newcomer: cell.kind === 'newcomer' },
  }));
  const measured = await runRounds({
    ...{ contestants, cells, rounds: options.rounds, seconds: options.seconds },
    workload: ({ newcomer }) => ({ requestsOf, tokens: NEW_TOKENS, newcomer }),
  });
  const named = (rows) => rows.map((row) => ({ ...row, name: `${dtype} ${row.name}` }));
  return { measured, agreement: named(agreement), alone: named(alone) };
}

const ceiling = await loadCeiling();
const results = [];
for (const dtype of dtypes) results.push(await family(dtype));
const measured = results.flatMap((each) => each.measured);
report(options.fused ? 'generation-fused' : 'generation', {
  ...{ options, ceiling, measured },
  tables: {
    'Answers agree': results.flatMap((each) => each.agreement),
    ...(options.memory && { 'Each alone': results.flatMap((each) => each.alone) }),
    'Streams (medians over rounds)': rowsOf(measured, { columns: COLUMNS, value: 'tokens' }),
  },
});
