import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** One of each way to open weights: session threads, one session, decoder, encoder and decoder. */
const MODELS = [
  'feature-extraction/bert-mean',
  'image-classification/vit-tiny',
  'chat/llama-chat',
  'translation/marian',
];

// Here, since nothing else runs meanwhile: pages of libraries that other processes map, too, count for less.
test('the predicted peak of memory is within 15 % of what the server takes', async () => {
  const args = ['bench/memory-forecast.mjs', '--zoo', '--only', MODELS.join(',')];
  const { stdout } = await promisify(execFile)(process.execPath, args).catch((error: { stdout?: string }) => {
    throw new Error(error.stdout || String(error));
  });
  for (const name of MODELS) expect(stdout).toMatch(new RegExp(`^${name} .* true$`, 'm'));
}, 120_000);
