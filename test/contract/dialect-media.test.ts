import OpenAI, { toFile } from 'openai';
import { encodeWav } from '../../runtime/core/wav.js';
import { RunError } from '../../runtime/core/errors.js';
import type { ModelService } from '../../runtime/http/service.js';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { closeServers, secret } from '../fakes/gateway.js';
import { mounted, MOUNTS } from '../fakes/dialects.js';

afterEach(closeServers);

const seen: Record<string, unknown>[] = [];
beforeEach(() => seen.splice(0));

const WAV = encodeWav(new Float32Array([0, 0.5, -1]), 12_000);
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const TRANSCRIPT = {
  ...{ text: ' Hi. Bye.', language: 'en', duration: 2.5 },
  chunks: [
    { text: ' Hi.', timestamp: [0, 1.2] },
    { text: ' Bye.', timestamp: [1.2, null] },
  ],
};

describe.each(MOUNTS)('OpenAI’s media, %s', (mount) => {
  const base = (task: TaskId, output: unknown) => {
    const run: ModelService['run'] = async (input) => {
      seen.push(input);
      return output;
    };
    return mounted(mount, { task, run });
  };
  const client = async (task: TaskId, output: unknown) =>
    new OpenAI({ apiKey: secret, baseURL: `${await base(task, output)}/v1`, maxRetries: 0 });
  const speech = 'automatic-speech-recognition' as const;

  test('a transcript', async () => {
    const { audio } = await client(speech, TRANSCRIPT);
    const file = await toFile(WAV, 'a.wav');
    const answer = await audio.transcriptions.create({ model: 'test/model', file, language: 'en' });
    expect(answer).toMatchObject({ text: 'Hi. Bye.', usage: { type: 'duration', seconds: 3 } });
    const { media, params } = seen[0] as { media: { bytes: Uint8Array }; params: object };
    expect(Buffer.from(media.bytes).equals(WAV)).toBe(true);
    expect(params).toMatchObject({ return_chunks: true, language: 'en' });
  });

  test.each([
    ['text', 'Hi. Bye.\n'],
    ['srt', '1\n00:00:00,000 --> 00:00:01,200\nHi.\n\n2\n00:00:01,200 --> 00:00:02,500\nBye.\n\n'],
    ['vtt', 'WEBVTT\n\n00:00:00.000 --> 00:00:01.200\nHi.\n\n00:00:01.200 --> 00:00:02.500\nBye.\n\n'],
    [
      'verbose_json',
      {
        ...{ task: 'transcribe', language: 'en', duration: 2.5, text: 'Hi. Bye.' },
        segments: [
          { id: 0, text: ' Hi.', start: 0, end: 1.2 },
          { id: 1, text: ' Bye.', start: 1.2, end: 2.5 },
        ],
      },
    ],
  ] as const)('%s', async (response_format, expected) => {
    const { audio } = await client(speech, TRANSCRIPT);
    const file = await toFile(WAV, 'a.wav');
    const given = { model: 'test/model', file, response_format };
    const answer: unknown = await audio.transcriptions.create(given);
    if (typeof expected === 'string') expect(answer).toBe(expected);
    else expect(answer).toMatchObject(expected);
    expect(seen[0]!['params']).toEqual({
      return_chunks: true,
      ...(response_format === 'text' ? {} : { return_timestamps: true }),
    });
  });

  test.each([
    [['word' as const], false],
    [['word' as const, 'segment' as const], true],
  ])('times of %j', async (timestamp_granularities, hasSegments) => {
    const words = [
      { text: ' Hi.', timestamp: [0.1, 1.2] },
      { text: ' Bye.', timestamp: [1.4, 2.5] },
    ];
    const { audio } = await client(speech, { ...TRANSCRIPT, chunks: words, segments: TRANSCRIPT.chunks });
    const given = { model: 'test/model', file: await toFile(WAV, 'a.wav'), timestamp_granularities };
    const answer = await audio.transcriptions.create({ ...given, response_format: 'verbose_json' });
    expect(answer).toMatchObject({ text: 'Hi. Bye.', duration: 2.5 });
    expect(answer.words).toEqual([
      { word: 'Hi.', start: 0.1, end: 1.2 },
      { word: 'Bye.', start: 1.4, end: 2.5 },
    ]);
    expect(answer.segments?.map(({ end }) => end)).toEqual(hasSegments ? [1.2, 2.5] : undefined);
    expect(seen[0]!['params']).toEqual({ return_chunks: true, return_timestamps: 'word' });
  });

  test('a translation, and a stream', async () => {
    const { audio } = await client(speech, TRANSCRIPT);
    const file = await toFile(WAV, 'a.wav');
    await audio.translations.create({ model: 'test/model', file });
    expect(seen[0]!['params']).toMatchObject({ task: 'translate' });
    const events = [];
    for await (const event of await audio.transcriptions.create({ model: 'test/model', file, stream: true }))
      events.push(event);
    expect(events).toMatchObject([
      { type: 'transcript.text.delta', delta: 'Hi. Bye.' },
      { type: 'transcript.text.done', text: 'Hi. Bye.' },
    ]);
  });

  test.each<[string, (form: FormData) => void, number]>([
    ['no file', () => {}, 400],
    ['a format that is none', (form) => form.set('response_format', 'poem'), 400],
    ['words in a format without them', (form) => form.set('timestamp_granularities[]', 'word'), 400],
    ['an unknown field', (form) => form.set('colour', 'red'), 400],
    ['too many parts', (form) => Array.from({ length: 100 }, () => form.append('a', '')), 400],
  ])('%s is refused', async (name, change, status) => {
    const form = new FormData();
    form.set('model', 'test/model');
    if (name !== 'no file') form.set('file', new Blob([WAV as Uint8Array<ArrayBuffer>]), 'a.wav');
    change(form);
    const url = `${await base(speech, TRANSCRIPT)}/v1/audio/transcriptions`;
    const answer = await fetch(url, { method: 'POST', headers: { authorization: secret }, body: form });
    expect([answer.status, await answer.json()]).toEqual([status, { error: expect.any(Object) }]);
    expect(seen).toEqual([]);
  });

  test.each(['multipart/form-data', 'multipart/form-data; boundary=x', 'application/json'])(
    'a body that is no form, as %s',
    async (type) => {
      const url = `${await base(speech, TRANSCRIPT)}/v1/audio/transcriptions`;
      const headers = { authorization: secret, 'content-type': type };
      const answer = await fetch(url, { method: 'POST', headers, body: '--y\r\nno form' });
      expect([400, 415]).toContain(answer.status);
    },
  );

  test('speech', async () => {
    const { audio } = await client('text-to-speech', { mediaType: 'audio/wav', media: WAV });
    const given = { model: 'test/model', input: 'hi', voice: 'alloy' as const };
    const wav = await audio.speech.create({ ...given, response_format: 'wav' });
    expect(wav.headers.get('content-type')).toBe('audio/wav');
    expect(Buffer.from(await wav.arrayBuffer()).equals(WAV)).toBe(true);
    const pcm = await audio.speech.create({ ...given, voice: '3', response_format: 'pcm' });
    const samples = new Int16Array(await pcm.arrayBuffer());
    expect([...samples]).toEqual([0, 8192, 16_384, -8192, -32_767, -32_767]);
    await audio.speech.create(given);
    await audio.speech.create({ ...given, response_format: 'opus' });
    expect(seen.flatMap(({ params }) => params ?? [])).toEqual([
      { format: 'wav' },
      { speaker_id: 3, format: 'wav' },
      { format: 'mp3' },
      { format: 'opus' },
    ]);
    await expect(audio.speech.create({ ...given, response_format: 'midi' as 'mp3' })).rejects.toThrow(/wav/);
  });

  test('voices', async () => {
    const voices = ['anna', '7', 'nova'];
    const run: ModelService['run'] = async (given) => {
      const input = given as unknown as Record<string, unknown>;
      seen.push(input);
      const { speaker_id } = (input['params'] ?? {}) as { speaker_id?: unknown };
      if (speaker_id === 'no one')
        throw new RunError('unprocessable', 'params.speaker_id: there are 3 voices');
      return input['voices'] ? { voices } : { mediaType: 'audio/wav', media: WAV };
    };
    const url = await mounted(mount, { task: 'text-to-speech', run });
    const get = async (path: string) =>
      (await fetch(`${url}/v1/audio/${path}`, { headers: { authorization: secret } })).json();
    expect(await get('voices')).toEqual({ voices: voices.map((name) => ({ id: name, name })) });
    expect(await get('models')).toEqual({ models: [{ id: 'test/model', name: 'test/model' }] });
    expect(seen.splice(0)).toEqual([{ voices: true }]);

    const { audio } = new OpenAI({ apiKey: secret, baseURL: `${url}/v1`, maxRetries: 0 });
    const speak = (voice: string) =>
      audio.speech.create({ model: 'test/model', input: 'hi', voice, response_format: 'wav' });
    for (const voice of ['anna', '7', '1', 'nova', 'alloy']) await speak(voice);
    const asked = seen.flatMap(({ params }) =>
      params ? [(params as { speaker_id?: unknown }).speaker_id] : [],
    );
    // A name comes before a number; OpenAI's own names mean the usual voice only where the model has none of that name.
    expect(asked).toEqual(['anna', '7', 1, 'nova', undefined]);
    await expect(speak('no one')).rejects.toThrow('422 voice: there are 3 voices');
  });

  test('voices of a model that does not speak', async () => {
    const url = await base('text-classification', []);
    const answer = await fetch(`${url}/v1/audio/voices?model=test/model`, {
      headers: { authorization: secret },
    });
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { error: expect.objectContaining({ message: expect.stringMatching(/^model: test\/model does/) }) },
    ]);
  });

  test('images', async () => {
    const { images } = await client('text-to-image', { mediaType: 'image/png', media: PNG });
    const given = { model: 'test/model', prompt: 'a', n: 2, size: '64x32', seed: 5 };
    const { data } = await images.generate(given as OpenAI.ImageGenerateParamsNonStreaming);
    expect(data!.map(({ b64_json }) => b64_json)).toEqual([PNG, PNG].map((one) => one.toString('base64')));
    expect(seen.map(({ params }) => params)).toEqual([
      { width: 64, height: 32, seed: 5 },
      { width: 64, height: 32, seed: 6 },
    ]);
    await expect(images.generate({ model: 'test/model', prompt: 'a', style: 'vivid' })).rejects.toThrow(
      /style/,
    );
  });
});
