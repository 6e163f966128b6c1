import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../testing/free-port.mjs';

const run = promisify(execFile);

export const ZOO = 'test/fixtures/zoo';

/** What lm-eval's values are of. */
const EVALUATED = 'zoo-weights/text-generation/llama-bf16-tied';

/** The tokenizer that lm-eval sends tokens of. */
export const EVALUATED_REPOSITORY = `test/fixtures/${EVALUATED}/repo`;

/** Task -> repository. */
export const MODELS = {
  chat: 'chat/llama-chat',
  'text-generation': `../${EVALUATED}`,
  summarization: 'summarization/t5-summary',
  translation: 'translation/marian',
  'fill-mask': 'fill-mask/bert',
  'text-classification': 'text-classification/distilbert',
  'token-classification': 'token-classification/bert-ner',
  'feature-extraction': 'feature-extraction/bert-mean',
  'sentence-similarity': 'sentence-similarity/sbert-mean',
  'zero-shot-classification': 'zero-shot-classification/distilbert-mnli',
  'question-answering': 'question-answering/bert-qa',
  'image-classification': 'image-classification/vit-tiny',
  'image-segmentation': 'image-segmentation/segformer-tiny',
  'image-to-text': 'image-to-text/blip-tiny',
  'object-detection': 'object-detection/detr-tiny',
  'visual-question-answering': 'visual-question-answering/vilt-tiny',
  'document-question-answering': 'document-question-answering/donut-tiny',
  'zero-shot-image-classification': 'zero-shot-image-classification/clip-tiny',
  'text-to-image': 'text-to-image/sd-ddim',
  'audio-classification': 'audio-classification/w2v2-keywords',
  'automatic-speech-recognition': 'automatic-speech-recognition/whisper-en',
  'text-to-speech': 'text-to-speech/vits-mms',
};

/** A model as `builder serve` starts it. @returns its address when it is ready */
export async function serve(task, folder) {
  const port = await freePort();
  const args = ['dist/builder/main.js', 'serve', `zoo/${task}`, '--from', `${ZOO}/${folder}/repo`];
  const child = spawn(process.execPath, [...args, '--task', task, '--port', String(port), '--quiet'], {
    stdio: 'ignore',
  });
  const address = `http://127.0.0.1:${port}`;
  for (let i = 0; i < 240; i++) {
    if (child.exitCode !== null) throw new Error(`the server of ${folder} ended with ${child.exitCode}`);
    const answer = await fetch(`${address}/health`).catch(() => undefined);
    if (answer?.ok) return { task, address, child };
    await sleep(500);
  }
  throw new Error(`${folder} is not ready after two minutes`);
}

/** A gateway before these servers: where each model is there, and a key. */
export async function gateway(servers) {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-clients-'));
  const models = servers.map(({ task, address }) => ({
    ...{ id: `zoo/${task}`, task, addresses: [address] },
  }));
  const files = { catalog: join(folder, 'models.json'), keys: join(folder, 'keys.json') };
  writeFileSync(files.catalog, JSON.stringify({ models }));
  const program = 'dist/gateway/main.js';
  const key = await run(process.execPath, [program, 'keys', 'create', '--keys', files.keys]);
  const given = ['--upstream', 'static', '--catalog', files.catalog, '--keys', files.keys, '--port', '0'];
  const stdio = ['ignore', 'pipe', 'ignore'];
  const child = spawn(process.execPath, [program, 'serve', ...given], { stdio });
  const [address] = await once(child.stdout.setEncoding('utf8'), 'data');
  const at = (task) => `${address.trim()}/zoo/${task}`;
  const addresses = Object.fromEntries(servers.map(({ task }) => [task, at(task)]));
  return { child, addresses, key: key.stdout.trim(), close: () => rmSync(folder, { recursive: true }) };
}
