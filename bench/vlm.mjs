/**
 * Streamed answers about images beside transformers.js, on a model of SmolVLM-256M's size: node bench/vlm.mjs --help.
 * `new` images are seen for the first time, `again` is one image whose features are kept. docs/benchmarks.md says
 * what the columns mean.
 */
import { benchModel, startServer } from './lib.mjs';
import { checkAgreement, SAME_TEXT } from './lib/agreement.mjs';
import { loadCeiling } from './lib/ceiling.mjs';
import { NEW_TOKENS } from './lib/decoders.mjs';
import { chooseContestants, readOptions } from './lib/options.mjs';
import { photosOf } from './lib/photos.mjs';
import { installedPeer, serverNode, startProcess } from './lib/processes.mjs';
import { report, rowsOf, runAlone, runRounds } from './lib/rounds.mjs';

const CELLS = ['new@1', 'new@4', 'again@1'];
const COLUMNS = [
  ['tokens/s', 'tokens'],
  ['TTFT p50 ms', 'firstp50', 0],
  ['TTFT p95 ms', 'firstp95', 0],
  ['ITL p50 ms', 'gapp50'],
  ['CPU ms/token', 'cpuMsPerToken'],
  ['others', 'othersCores', 2],
];
const TASK = 'image-text-to-text';
const TEXT = 'What is in the image?';
/** Images of the size that the model looks at: libraries resize in different ways. */
const SIZE = '512x512';
/** Requests of a window: more than any answers. */
const REQUESTS = 128;

const options = readOptions({ cells: CELLS, rounds: 3, seconds: 30 });
const dir = benchModel('bench_vlm.py');
const photos = await photosOf(SIZE);
const json = (body) => ({ path: '/run', body: JSON.stringify(body) });

const slipway = {
  name: 'slipway',
  start: () =>
    startServer({
      dir,
      node: serverNode(),
      task: TASK,
      engine: 'generation',
      profile: 'vision',
      graphs: graphs(),
    }),
  request(base64) {
    const content = [
      { type: 'image', base64 },
      { type: 'text', text: TEXT },
    ];
    return json({
      messages: [{ role: 'user', content }],
      stream: true,
      params: { max_new_tokens: NEW_TOKENS },
    });
  },
  parse: (body) => body,
};

const naive = {
  name: 'naive',
  start() {
    const cwd = installedPeer('naive');
    const command = serverNode();
    return startProcess((port) => ({
      command,
      args: ['chat-server.mjs'],
      cwd,
      env: { MODEL: dir, PORT: String(port) },
    }));
  },
  request: (base64) => json({ base64, text: TEXT, max_new_tokens: NEW_TOKENS }),
  parse: (body) => body,
};

function graphs() {
  const roles = ['embed_tokens', 'vision_encoder', 'decoder_model_merged'];
  return Object.fromEntries(roles.map((role) => [role, `onnx/${role}.onnx`]));
}

let made = 0;

/** The same image as another file: decoders don't read behind its end. */
function unseen(base64) {
  const tail = Buffer.from(String(++made));
  return Buffer.concat([Buffer.from(base64, 'base64'), tail]).toString('base64');
}

const images = {
  new: () => Array.from({ length: REQUESTS }, (_, i) => unseen(photos[i % photos.length])),
  again: () => photos.slice(0, 1),
};
const job = { tokens: NEW_TOKENS, seconds: options.seconds };
const chosen = chooseContestants([slipway, naive], options.only);
const { rows: agreement, answering: contestants } = await checkAgreement(
  chosen,
  photos.slice(0, 4),
  SAME_TEXT,
);
const ceiling = await loadCeiling();
const alone = options.memory
  ? await runAlone({
      contestants,
      request: ({ request }) => request(photos[0]),
      underLoad: ({ request }) => ({ ...job, connections: 4, requests: images.new().map(request) }),
    })
  : [];
const measured = await runRounds({
  ...{ contestants, cells: options.cells, rounds: options.rounds, seconds: options.seconds },
  workload: ({ kind }) => ({
    requestsOf: ({ request }) => images[kind]().map(request),
    tokens: NEW_TOKENS,
  }),
});
report('vlm', {
  ...{ options, ceiling, measured },
  tables: {
    'Answers agree': agreement,
    ...(options.memory && { 'Each alone': alone }),
    'Answers about images (medians over rounds)': rowsOf(measured, { columns: COLUMNS, value: 'tokens' }),
  },
});
