import { parseStrictJson } from '../../../../builder/archive/strict-json.js';

test.each([
  '{}',
  '[{"a":1,"b":[{"a":"a"},{"a":"a"}]},{"a":"\\"a\\":1,"}]',
  '{"config":{"Labels":{"a":"1","A":"2"},"Volumes":{"/a":{},"/A":{}}},"a":{"config":{}}}',
  '"x"',
  ' [ 1 , { "a" : [ ] , "b" : "]}" } ] ',
])('%s means one thing', (text) => {
  expect(parseStrictJson(text)).toEqual(JSON.parse(text));
});

test.each([
  '{"a":1,"a":2}',
  '{"a":1,"A":2}',
  '{"a":1,"\\u0061":2}',
  '{"Labels":{"a":"1","a":"2"}}',
  '{"x":[{"os":1,"o\\u017f":2}]}',
  '{"k":1,"\\u212a":2}',
  '{"a":{"b":1},"c":"}","A":{}}',
])('%s may mean another thing to another program', (text) => {
  expect(() => parseStrictJson(text)).toThrow(/stands there twice/);
});

test('a large text does not exhaust the stack', () => {
  const text = JSON.stringify({
    long: '\\"'.repeat(2 ** 21),
    list: Array.from({ length: 1e5 }, () => ({ a: 'b' })),
  });
  expect(parseStrictJson(text)).toMatchObject({ list: { length: 1e5 } });
});

test.each(['{', '{"a":1,}', ''])('%s is no JSON', (text) => {
  expect(() => parseStrictJson(text)).toThrow(SyntaxError);
});
