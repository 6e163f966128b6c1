import { scanJson } from '../../../runtime/wire/json-scan.js';
import { type LongText, parseScanned } from '../../../runtime/wire/json-text.js';

const noPause = () => undefined;
const read = async (text: string | Buffer, maxValues = 1000) => {
  const bytes = Buffer.from(text);
  return parseScanned(bytes, await scanJson(bytes, { maxValues }, noPause), { pause: noPause });
};

describe('long strings are read piece by piece, and are what JSON.parse makes of them', () => {
  const units = {
    Base64: 'iVBORw0KGgo',
    'escaped letters': '\\u0041\\u00e9',
    'escaped quotes': '\\"',
    backslashes: '\\\\',
    'backslashes before quotes': '\\\\\\"x',
    'escaped slashes': 'ab\\/cd',
    'two bytes': 'é',
    'four bytes': '🚢',
    'escaped pairs': '\\ud83d\\udea2',
    'lone halves': '\\ud83d-',
    'byte order marks': '\ufeffa',
    'all of it': 'aé🚢\\"\\\\\\u00e9\\n\\ud83d\\udea2',
  };
  test.each(Object.entries(units))('%s', async (_, unit) => {
    const many = Math.ceil(2.2e6 / Buffer.byteLength(unit));
    for (let shift = 0; shift < 7; shift++) {
      const long = `"${'a'.repeat(shift)}${unit.repeat(many)}"`;
      const second = `"${unit.repeat(Math.ceil(many / 20))}"`;
      const text = `{"a": ["x", ${long} , 1], "b": {"c":${second}}}`;
      expect(JSON.stringify(await read(text)) === JSON.stringify(JSON.parse(text))).toBe(true);
    }
  });

  test('names and short strings stay where they are', async () => {
    const long = 'x'.repeat(70_000);
    const text = JSON.stringify({ __proto__: null, a: long, b: ['a', long, { 'c"': 'd' }], '1': [[]] });
    expect(await read(text)).toEqual(JSON.parse(text));
    expect(await read(JSON.stringify(long))).toBe(long);
    expect(await read('{"a":1,"__proto__":{"b":[true,null,-1.5e3]}}')).toEqual(
      JSON.parse('{"a":1,"__proto__":{"b":[true,null,-1.5e3]}}'),
    );
  });

  const long = 'x'.repeat(70_000);
  test.each([
    ['a line feed within', `{"a":"${long}\n${long}"}`],
    ['no end', `{"a":"${long}`],
    ['an escape of nothing', `{"a":"${long}\\x${long}"}`],
    ['an escape cut off', `{"a":"${long}\\u00"}`],
    [
      'bytes that are no text',
      Buffer.concat([Buffer.from(`{"a":"${long}`), Buffer.from([0xff, 0x22, 0x7d])]),
    ],
    ['two strings in a row', `{"a":"${long}" "${long}"}`],
    ['nothing around', `"${long}",`],
  ])('%s is no JSON', async (_, text) => {
    await expect(read(text)).rejects.toMatchObject({
      code: 'invalid_input',
      message: 'the body is not valid JSON in UTF-8',
    });
  });
});

describe('what a text would become is counted before', () => {
  test.each([
    ['objects', `[${'{},'.repeat(1000)}{}]`],
    ['numbers', `[${'1,'.repeat(1000)}1]`],
    ['members', `{${'"a":1,'.repeat(1000)}"b":1}`],
    ['empty arrays', '[],'.repeat(1001)],
  ])('%s', async (_, text) => {
    await expect(read(text)).rejects.toMatchObject({
      code: 'payload_too_large',
      message: expect.stringMatching(/more than 1000 .* \(MAX_BODY_VALUES\)/),
    });
  });

  test('as many as may be are let in; brackets and commas in strings are none', async () => {
    expect(await read(`[${'1,'.repeat(997)}1]`)).toHaveLength(998);
    expect(await read(JSON.stringify('[{,'.repeat(5000)))).toHaveLength(15_000);
    expect(await read(JSON.stringify('\\"[,'.repeat(5000)))).toHaveLength(20_000);
  });

  test('depth', async () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    expect(await read(nested(100))).toHaveLength(1);
    await expect(read(nested(101))).rejects.toMatchObject({ message: expect.stringMatching(/100 levels/) });
    await expect(read('['.repeat(1e6))).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('names that are long, and much that is no long string', async () => {
    await expect(read(`{"${'x'.repeat(70_000)}" \n : 1}`)).rejects.toMatchObject({
      message: expect.stringMatching(/name in the body/),
    });
    await expect(read(`[1${' '.repeat(5e6)}]`)).rejects.toMatchObject({ code: 'payload_too_large' });
    await expect(read(`[${'1'.repeat(5e6)}]`)).rejects.toMatchObject({ code: 'payload_too_large' });
  });
});

test('of long strings that are cut the beginnings are left, and all of them is read', async () => {
  const cut = async (text: string) => {
    const bytes = Buffer.from(text);
    return parseScanned(bytes, await scanJson(bytes, { maxValues: 10 }, noPause), {
      pause: noPause,
      cut: true,
    });
  };
  const text = 'x'.repeat(1.5e6);
  expect(await cut(JSON.stringify({ a: text, b: 'y' }))).toEqual({ a: text.slice(0, 2 ** 16), b: 'y' });
  await expect(cut(`{"a":"${text}\t"}`)).rejects.toMatchObject({ code: 'invalid_input' });
});

test('long media stay apart, wherever a task takes them; all else is a string', async () => {
  const long = `${'abc+'.repeat(3e5)}\\/==`;
  const json = `{"base64":"${long}","text":"${long}","input":{"image":"${long}","deep":{"base64":"${long}"}}}`;
  const bytes = Buffer.from(json);
  const media = new Map<string, LongText>();
  const scanned = await scanJson(bytes, { maxValues: 100 }, noPause);
  const value = (await parseScanned(bytes, scanned, { pause: noPause, media })) as typeof expected;
  const expected = JSON.parse(json) as {
    base64: string;
    text: string;
    input: { image: string; deep: { base64: string } };
  };
  const whole = (mark: string) => [...media.get(mark)!.pieces()].join('');
  expect([...media.keys()]).toEqual([value.base64, value.input.image]);
  expect([whole(value.base64), whole(value.input.image)]).toEqual([expected.base64, expected.input.image]);
  expect(value.text === expected.text && value.input.deep.base64 === expected.input.deep.base64).toBe(true);
});
