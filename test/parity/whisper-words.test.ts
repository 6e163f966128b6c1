import { readFileSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { missingFor } from './ffmpeg.js';
import { plannedModel, type ServedModel, serveInline } from './load.js';
import { zooModel } from './zoo.js';

/** Times of words of Whisper, beside those of Python's pipeline. */

const TASK = 'automatic-speech-recognition';

type Part = [text: string, start: number | null, end: number | null];

interface Timed {
  text: string;
  timestamp: [number | null, number | null];
}

interface Case {
  audio: string;
  params: Record<string, unknown>;
  /** Text, begin and end of each. */
  expect: { text: string; chunks: Part[]; segments: Part[] };
}

/** By scripts/fixtures/whisper_words.py. */
const { alignment_heads, cases } = JSON.parse(readFileSync('test/fixtures/whisper-words.json', 'utf8')) as {
  alignment_heads: number[][];
  cases: Case[];
};

async function change(path: string, changes: object): Promise<void> {
  const settings = JSON.parse(await readFile(path, 'utf8')) as object;
  await writeFile(path, JSON.stringify({ ...settings, ...changes }));
}

/** The model with other settings, as the builder plans it. */
async function served(
  root: string,
  generation: object,
): Promise<{ model: ServedModel; media: string; end(): Promise<void> }> {
  const { repo, about, dir } = await zooModel(TASK, 'whisper-languages', root);
  const copy = await mkdtemp(join(tmpdir(), 'words-'));
  await cp(repo, copy, { recursive: true, dereference: true });
  await change(join(copy, 'generation_config.json'), generation);
  const planned = await plannedModel(TASK, about.id, copy);
  const model = await serveInline(planned.spec, planned.dir);
  return {
    ...{ model, media: join(dir, 'media') },
    async end() {
      model.stop();
      await rm(copy, { recursive: true });
      await rm(planned.dir, { recursive: true });
    },
  };
}

const timed = (parts: readonly Part[]) => parts.map(([text, ...timestamp]) => ({ text, timestamp }));
const answerOf = ({ text, chunks, segments }: Case['expect']) => ({
  ...{ text, chunks: timed(chunks), segments: timed(segments) },
});

const ASKED = { return_timestamps: 'word', return_chunks: true };

const missing = missingFor(TASK);
(missing ? describe.skip : describe)('times of words (skipped without ffmpeg)', () => {
  let whisper: Awaited<ReturnType<typeof served>>;
  beforeAll(async () => {
    whisper = await served('zoo-weights', { alignment_heads });
  });
  afterAll(() => whisper.end());

  const ask = async ({ audio, params }: Pick<Case, 'audio' | 'params'>) => {
    const base64 = readFileSync(join(whisper.media, audio)).toString('base64');
    const { status, body } = await whisper.model.run({
      base64,
      params: { num_beams: 1, ...ASKED, ...params },
    });
    return { status, error: body.error, output: body.output as { chunks: Timed[]; segments?: Timed[] } };
  };

  test.each(cases)('$audio $params', async (one) => {
    expect(await ask(one)).toMatchObject({ status: 200, error: null, output: answerOf(one.expect) });
  });

  test('the same when all are asked at once', async () => {
    const found = await Promise.all(cases.map(ask));
    expect(found.map(({ output }) => output)).toMatchObject(cases.map((one) => answerOf(one.expect)));
  });

  test('nobody else is told of words', async () => {
    const [{ audio, params, expect: wanted }] = cases as [Case];
    const text = await ask({ audio, params: { ...params, return_chunks: false } });
    expect(text).toMatchObject({ status: 200, output: wanted.text });
    const parts = await ask({ audio, params: { ...params, return_timestamps: true } });
    expect(parts.output.chunks).toEqual(timed(wanted.segments));
    expect(parts.output.segments).toBeUndefined();
  });

  test('seams go by times of words where only the text is told', async () => {
    const one = cases.find(({ params }) => params['stride_length_s'] === 1.25)!;
    const params = { ...one.params, return_chunks: false };
    expect(await ask({ audio: one.audio, params })).toMatchObject({ status: 200, output: one.expect.text });
    const byTokens = await ask({ audio: one.audio, params: { ...params, return_timestamps: true } });
    expect(byTokens.output).not.toBe(one.expect.text);
  });

  test.each<[string, string, object, RegExp]>([
    ['no heads', 'zoo-weights', {}, /alignment_heads in generation_config/],
    ['heads that there are not', 'zoo-weights', { alignment_heads: [[0, 4]] }, /pairs of a layer and a head/],
    ['no list', 'zoo-weights', { alignment_heads: 'all' }, /pairs of a layer and a head/],
    ['an exported graph', 'zoo-own', { alignment_heads }, /PyTorch weights/],
  ])('%s: refused by name', async (_, root, settings, reason) => {
    const other = await served(root, settings);
    try {
      const base64 = readFileSync(join(whisper.media, 'sound1.wav')).toString('base64');
      const { status, body } = await other.model.run({ base64, params: ASKED });
      expect([status, body.error]).toEqual([422, expect.stringMatching(reason)]);
      const plain = await other.model.run({ base64, params: { return_timestamps: 'word' } });
      expect(plain.status).toBe(200);
      const pieces = { return_timestamps: 'word', chunk_length_s: 0.2 };
      expect(await other.model.run({ base64, params: pieces })).toMatchObject({ status: 422 });
    } finally {
      await other.end();
    }
  });
});
