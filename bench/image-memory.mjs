/**
 * Memory that `builder plan` predicts for tasks of images and audio clips beside what servers take, for networks of real size
 * with random weights. Fails where more than 15 % is missing from a prediction.
 *
 *   node bench/image-memory.mjs FOLDER [PART...]
 *
 * FOLDER holds <task>/<name> as bench/image-networks.py, query-networks.py, image-text-networks.py, image-exports.py,
 * media-networks.py and chat-networks.py write them.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { MB, table } from './lib.mjs';
import { comparePeak } from './lib/peak-memory.mjs';
import { photosOf } from './lib/photos.mjs';
import { audiosOf } from './lib/audio.mjs';

const LIMIT = 0.15;
const TIMES = 4;
const SECONDS = 30;
/** What requests hold beside an image. */
const REQUEST = {
  'zero-shot-image-classification': { candidate_labels: ['a ship', 'a town'] },
  // As few points as there may be: memory is that of the image's encoder.
  'zero-shot-object-detection': { candidate_labels: ['a ship', 'a town'] },
  'image-to-text': { params: { max_new_tokens: 8 } },
  'visual-question-answering': { question: 'How many ships are there?' },
  'mask-generation': { params: { points_per_crop: 2 } },
};

const [folder, ...parts] = process.argv.slice(2);
if (!folder) throw new Error('usage: node bench/image-memory.mjs FOLDER [PART...]');
const models = readdirSync(folder)
  .flatMap((task) => readdirSync(join(folder, task)).map((name) => ({ task, name })))
  .filter(({ name }) => parts.length === 0 || parts.some((part) => name.includes(part)));
if (models.length === 0) throw new Error(`${folder} has no such model`);
const photos = (await photosOf('1000x750')).slice(0, TIMES);
const chatOf = (medium) => ({
  messages: [{ role: 'user', content: [medium, { type: 'text', text: 'What is it?' }] }],
  params: { max_new_tokens: 8 },
});
/** Of tasks that read more than one image, or none. */
const REQUESTS = {
  'image-text-to-text': () => photos.map((base64) => chatOf({ type: 'image', base64 })),
  'audio-text-to-text': () => audiosOf(SECONDS).map((base64) => chatOf({ type: 'audio', base64 })),
  'automatic-speech-recognition': () => audiosOf(SECONDS).map((base64) => ({ base64 })),
  'text-to-image': () => [{ text: 'a ship', params: { num_inference_steps: 2, seed: 1 } }],
};
const requestsOf = (task) => REQUESTS[task]?.() ?? photos.map((base64) => ({ base64, ...REQUEST[task] }));

const rows = [];
for (const { task, name } of models) {
  const requests = requestsOf(task);
  const { predicted, measured } = await comparePeak({ dir: join(folder, task, name), task, requests });
  const ratio = predicted.memory.peakBytes / measured.peakBytes;
  const mb = (value) => Math.round(value / MB);
  rows.push({
    name,
    'peak predicted': mb(predicted.memory.peakBytes),
    measured: mb(measured.peakBytes),
    ratio: ratio.toFixed(2),
    'loading predicted': mb(predicted.memory.loadPeakBytes),
    'loading measured': mb(measured.loadPeakBytes),
    loaded: mb(measured.loadedBytes),
    'answering predicted': mb(predicted.memory.steadyBytes),
    'answering measured': mb(measured.answerPeakBytes),
    kept: mb(measured.steadyBytes),
    ok: Math.abs(ratio - 1) <= LIMIT,
    low: ratio < 1 - LIMIT,
  });
}
table(rows);
if (rows.some(({ low }) => low)) process.exitCode = 1;
