import { createResolveMedia, withMediaResolved } from '../../../runtime/media/resolve.js';
import { sampleClip } from '../../../runtime/tasks/sample-clip.js';
import { scanJson } from '../../../runtime/wire/json-scan.js';
import { type LongText, parseScanned } from '../../../runtime/wire/json-text.js';

test('media of messages are read in their order, and texts stay', async () => {
  const asked: unknown[] = [];
  const messages = [
    { role: 'system', content: 'be brief' },
    {
      role: 'user',
      content: [
        { type: 'image', url: 'https://example.com/a.png', base64: 'AAAA' },
        { type: 'text', text: 'or' },
        { type: 'image', base64: 'BBBB' },
      ],
    },
  ];
  const resolved = await withMediaResolved({ messages, params: {} }, async (source) => {
    asked.push(source);
    return { bytes: Uint8Array.of(asked.length), mediaType: 'image/png' };
  });
  expect(asked).toEqual([
    { type: 'image', url: 'https://example.com/a.png' },
    { type: 'image', base64: 'BBBB' },
  ]);
  const media = (byte: number) => ({ bytes: Uint8Array.of(byte), mediaType: 'image/png' });
  expect(resolved).toEqual({
    messages: [
      messages[0],
      {
        role: 'user',
        content: [
          { type: 'image', media: media(1) },
          { type: 'text', text: 'or' },
          { type: 'image', media: media(2) },
        ],
      },
    ],
    params: {},
  });
});

test.each([
  ['image', 'image/gif'],
  ['video', 'image/gif'],
  ['audio', undefined],
])('the type of a block decides which kind of file it may be: %s', async (type, mediaType) => {
  const resolve = createResolveMedia({
    fetchMedia: () => Promise.reject(new Error()),
    maxBytes: 1e6,
    kind: 'video',
  });
  const work = {
    ...{ signal: AbortSignal.timeout(1000), onBytes: () => undefined },
    inTurns: <T>(each: (pause: () => undefined) => Promise<T>) => each(() => undefined),
  };
  const found = resolve({ type, base64: sampleClip() }, work);
  if (mediaType) await expect(found).resolves.toMatchObject({ mediaType });
  else await expect(found).rejects.toThrow('expected audio data, got image/gif');
});

const noPause = () => undefined;

test.each([
  ['messages', (messages: unknown) => ({ messages })],
  ['input', (messages: unknown) => ({ input: messages })],
  ['input.messages', (messages: unknown) => ({ input: { messages } })],
])('long images in blocks of %s are left apart, long texts are not', async (_, bodyOf) => {
  const long = 'QUJD'.repeat(40_000);
  const content = [
    { type: 'image', base64: long },
    { type: 'image', image: `${long}AAAA` },
    { type: 'text', text: `${long}BBBB` },
  ];
  const body = bodyOf([
    { role: 'user', content },
    { role: 'user', content: { type: 'image', base64: `${long}CCCC` } },
  ]);
  const bytes = Buffer.from(JSON.stringify(body));
  const media = new Map<string, LongText>();
  const value = await parseScanned(bytes, await scanJson(bytes, { maxValues: 1000 }, noPause), {
    pause: noPause,
    media,
  });
  const marks = [...media].map(([mark, text]) => [mark, [...text.pieces()].join('').length] as const);
  expect(marks.map(([, length]) => length)).toEqual([160_000, 160_004, 160_004]);
  const [[first], [second], [third]] = marks as [[string, number], [string, number], [string, number]];
  expect(value).toEqual(
    bodyOf([
      {
        role: 'user',
        content: [
          { type: 'image', base64: first },
          { type: 'image', image: second },
          { type: 'text', text: `${long}BBBB` },
        ],
      },
      { role: 'user', content: { type: 'image', base64: third } },
    ]),
  );
});
