import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { missingFor } from './ffmpeg.js';
import { type Answer, fixtureSpec, plannedModel, type ServedModel, serveInline } from './load.js';
import { TRANSFORMERS_5, zooModel, type ZooModel } from './zoo.js';

/** What recognisers of speech are asked that has no reference answer: drawn texts, and what a model can't do. */

const TASK = 'automatic-speech-recognition';

interface Recogniser {
  served: ServedModel;
  ask(params: Record<string, unknown>): Promise<Answer>;
}

async function recogniser(
  name: string,
  root: string,
  audio: (model: ZooModel) => unknown,
): Promise<Recogniser> {
  const model = await zooModel(TASK, name, root);
  const served = await serveInline(fixtureSpec(TASK, model.about.id, model.repo), model.repo);
  const base64 = audio(model);
  return { served, ask: (params) => served.run({ base64, params }) };
}

/** Serves a copy of a model, with a file of settings changed. */
async function withSettings(
  { about, repo }: ZooModel,
  [file, changes]: [string, object],
  run: (served: ServedModel) => Promise<void>,
): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'settings-'));
  await cp(repo, dir, { recursive: true, dereference: true });
  const path = join(dir, file);
  const settings = JSON.parse(await readFile(path, 'utf8')) as object;
  await writeFile(path, JSON.stringify({ ...settings, ...changes }));
  const served = await serveInline(fixtureSpec(TASK, about.id, dir), dir);
  try {
    await run(served);
  } finally {
    served.stop();
    await rm(dir, { recursive: true });
  }
}

const firstAudio = ({ cases }: ZooModel): unknown => cases.find(({ expect }) => expect)!.request['base64'];
/** More than two windows. */
const longAudio = ({ cases }: ZooModel): unknown =>
  cases.find(
    ({ request: { params } }) => (params as object | undefined) && 'chunk_length_s' in (params as object),
  )!.request['base64'];

const tones = (count: number, step: number): Int16Array =>
  Int16Array.from({ length: count }, (_, i) => 9000 * Math.sin(i / step));

/** 16 kHz, one channel. */
function wav(samples: Int16Array): string {
  const header = Buffer.from(
    '524946460000000057415645666d74201000000001000100803e0000007d00000200100064617461',
    'hex',
  );
  const size = Buffer.alloc(4);
  size.writeUInt32LE(samples.byteLength);
  return Buffer.concat([header, size, Buffer.from(samples.buffer)]).toString('base64');
}

const missing = missingFor(TASK);
(missing ? describe.skip : describe)('recognition (skipped without ffmpeg)', () => {
  describe('Whisper draws at the next temperature', () => {
    let whisper: Recogniser;
    beforeAll(async () => {
      whisper = await recogniser('whisper-languages', 'zoo-own', longAudio);
    });
    afterAll(() => whisper.served.stop());

    const text = async (params: Record<string, unknown>): Promise<string> => {
      const { status, body } = await whisper.ask({ return_timestamps: true, ...params });
      expect({ status, error: body.error }).toEqual({ status: 200, error: null });
      return body.output as string;
    };

    test('what no threshold asks for is not drawn', async () => {
      const greedy = await text({});
      expect(await text({ temperature: [0, 1], seed: 1 })).toBe(greedy);
      expect(await text({ temperature: [0, 1], seed: 1, logprob_threshold: -100 })).toBe(greedy);
      expect(await text({ temperature: [0, 1], seed: 1, logprob_threshold: 1, do_sample: false })).toBe(
        greedy,
      );
    });

    test('what is drawn hangs on the seed, and on each attempt', async () => {
      const drawn = (seed: number, temperature: number[]) =>
        text({ temperature, seed, logprob_threshold: 1 });
      expect(await drawn(1, [0, 1])).toBe(await drawn(1, [0, 1]));
      expect(await drawn(1, [0, 1])).not.toBe(await drawn(2, [0, 1]));
      // The second attempt at one temperature is another one.
      expect(await drawn(1, [0, 1, 1])).not.toBe(await drawn(1, [0, 1]));
      expect(await drawn(1, [0, 1])).not.toBe(await text({}));
    });

    test('false asks for no times, and a long audio clip is heard by them all the same, as in Python', async () => {
      expect(await text({ return_timestamps: false })).toBe(await text({}));
    });

    test('times of words change nothing in the text, and seams can’t go by them', async () => {
      expect(await text({ return_timestamps: 'word' })).toBe(await text({}));
      for (const params of [
        { return_timestamps: 'char' },
        { return_timestamps: 'word', chunk_length_s: 1 },
      ]) {
        const { status, body } = await whisper.ask(params);
        expect([status, body.error]).toEqual([422, expect.stringContaining('params.return_timestamps')]);
      }
    });

    test('a wrong list is a 400 that names it', async () => {
      for (const temperature of [[], [-1], ['hot'], new Array<number>(17).fill(0)]) {
        const { status, body } = await whisper.ask({ temperature });
        expect([status, body.error]).toEqual([400, expect.stringContaining('params.temperature')]);
      }
    });
  });

  test('times are no text where only the tokenizer names their tokens', async () => {
    const model = await zooModel(TASK, 'whisper-languages', 'zoo-own');
    const file = 'generation_config.json';
    const settings = JSON.parse(await readFile(join(model.repo, file), 'utf8')) as Record<string, number>;
    await withSettings(model, [file, { no_timestamps_token_id: undefined }], async (served) => {
      const time = settings['no_timestamps_token_id']! + 30;
      const params = { logit_bias: { [time]: 100 }, max_new_tokens: 3 };
      const { status, body } = await served.run({ base64: firstAudio(model), params });
      expect([status, body.output]).toEqual([200, '']);
    });
  });

  test('words to expect as a text are the tokens that Python makes of them', async () => {
    const { served, ask } = await recogniser('whisper-en', 'zoo', firstAudio);
    try {
      const text = async (params: object): Promise<unknown> =>
        (await ask({ max_new_tokens: 12, ...params })).body.output;
      // WhisperTokenizer.get_prompt_ids, the same in both versions of transformers.
      const ids = [426, 220, 39, 271, 65, 360, 11, 220, 304, 64, 88];
      const asText = await text({ prompt: ' Harbour, quay' });
      expect(asText).toBe(await text({ prompt_ids: ids }));
      expect(asText).not.toBe(await text({}));
      expect(await text({ prompt: '  ' })).toBe(await text({}));
    } finally {
      served.stop();
    }
  });

  test('Moonshine writes on behind max_position_embeddings: places are turned by, not looked up', async () => {
    const model = await zooModel(TASK, 'moonshine-tiny');
    const { request, expect: wanted } = model.cases[0]!;
    await withSettings(model, ['config.json', { max_position_embeddings: 4 }], async (served) => {
      const { body } = await served.run(request);
      expect(body.output).toBe(wanted);
    });
  });

  test('Moonshine hears pieces of an audio clip, one behind the other', async () => {
    const { served } = await recogniser('moonshine-tiny', 'zoo', () => undefined);
    const halves = [tones(16_000, 7), tones(16_000, 23)] as const;
    const text = async (samples: Int16Array, more: object = {}): Promise<string> => {
      const params = { max_new_tokens: 8, ...more };
      const { status, body } = await served.run({ base64: wav(samples), params });
      expect({ status, error: body.error }).toEqual({ status: 200, error: null });
      return body.output as string;
    };
    try {
      const both = Int16Array.of(...halves[0], ...halves[1]);
      expect(await text(both, { chunk_length_s: 30 })).toBe(await text(both));
      const alone = `${await text(halves[0])} ${await text(halves[1])}`;
      expect(await text(both, { chunk_length_s: 1, stride_length_s: 0 })).toBe(alone);
    } finally {
      served.stop();
    }
  });

  test.each([
    ['wav2vec2-letters', 'zoo-own', 30],
    ['moonshine-tiny', 'zoo', 894],
  ])('%s refuses an audio clip that is shorter than a step', async (name, root, length) => {
    const { served } = await recogniser(name, root, () => undefined);
    try {
      const { status, body } = await served.run({ base64: wav(tones(length, 7)) });
      expect([status, body.error]).toEqual([422, expect.stringContaining('send a longer one')]);
      const longer = { base64: wav(tones(2 * length + 500, 7)), params: {} };
      expect((await served.run(longer)).status).toBe(200);
    } finally {
      served.stop();
    }
  });

  test('times of letters and words change nothing in what a model scores step by step', async () => {
    const plain = await recogniser('wav2vec2-letters', 'zoo-own', firstAudio);
    try {
      const { body } = await plain.ask({});
      for (const return_timestamps of ['char', 'word'])
        expect(await plain.ask({ return_timestamps })).toEqual({ status: 200, body });
      expect((await plain.ask({ return_timestamps: true })).status).toBe(422);
    } finally {
      plain.served.stop();
    }
  });

  test.each([
    ['moonshine-tiny', 'zoo'],
    ['wav2vec2-letters', 'zoo-own'],
  ])('%s says what it can’t do', async (name, root) => {
    const plain = await recogniser(name, root, firstAudio);
    try {
      for (const [option, value] of Object.entries({
        temperature: [0, 0.5],
        prompt: 'words',
        compression_ratio_threshold: 0,
        logprob_threshold: -1,
        no_speech_threshold: 0.6,
      })) {
        const { status, body } = await plain.ask({ [option]: value });
        expect([option, status, body.error]).toEqual([
          option,
          422,
          expect.stringContaining(`params.${option}`),
        ]);
      }
      expect((await plain.ask({})).status).toBe(200);
    } finally {
      plain.served.stop();
    }
  });

  test('lasr-ctc: pieces of words have no times', async () => {
    const { about, cases, repo } = await zooModel(TASK, 'lasr-ctc', TRANSFORMERS_5);
    const planned = await plannedModel(TASK, about.id, repo);
    const served = await serveInline(planned.spec, planned.dir);
    try {
      const { base64 } = cases[0]!.request;
      for (const [option, value] of Object.entries({ return_timestamps: 'word', num_beams: 2 })) {
        const { status, body } = await served.run({ base64, params: { [option]: value } });
        expect([status, body.error]).toEqual([422, expect.stringContaining(`params.${option}`)]);
      }
    } finally {
      served.stop();
      await rm(planned.dir, { recursive: true });
    }
  });

  test.each(['parakeet-ctc', 'omniasr-ctc', 'parakeet-tdt', 'parakeet-rnnt'])(
    '%s: pieces of words have no times, and no samples of a step to cut audio by',
    async (name) => {
      const { about, cases, repo } = await zooModel(TASK, name, TRANSFORMERS_5);
      const planned = await plannedModel(TASK, about.id, repo);
      const served = await serveInline(planned.spec, planned.dir);
      try {
        const { base64 } = cases[0]!.request;
        for (const [option, value] of [
          ['return_timestamps', 'word'],
          ['chunk_length_s', 1],
          ['num_beams', 2],
        ] as const) {
          const { status, body } = await served.run({ base64, params: { [option]: value } });
          expect([status, body.error]).toEqual([422, expect.stringContaining(`params.${option}`)]);
        }
        const { body } = await served.run({ base64, params: { return_chunks: true } });
        expect(body.output).toEqual({ text: cases[0]!.expect, language: null, duration: expect.any(Number) });
      } finally {
        served.stop();
        await rm(planned.dir, { recursive: true });
      }
    },
  );

  test.each([
    ['max_length', { max_length: 3 }],
    ['repetition_penalty', { repetition_penalty: 1.5 }],
    ['suppress_tokens', { suppress_tokens: [26] }],
    ['decoder_start_token_id', { decoder_start_token_id: 0 }],
  ])('a transducer refuses %s of its repository, which would change its answers', async (name, changes) => {
    const { about, repo } = await zooModel(TASK, 'parakeet-tdt', TRANSFORMERS_5);
    const { spec, dir } = await plannedModel(TASK, about.id, repo);
    const path = join(dir, 'generation_config.json');
    const settings = JSON.parse(await readFile(path, 'utf8')) as object;
    await writeFile(path, JSON.stringify({ ...settings, ...changes }));
    await expect(serveInline(spec, dir)).rejects.toThrow(`generation_config.json: ${name} `);
    await rm(dir, { recursive: true });
  });
});
