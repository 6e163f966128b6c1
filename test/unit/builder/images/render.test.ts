import { labelArguments, quote, render } from '../../../../builder/images/render.js';

describe('quote', () => {
  test.each([
    ['plain', '"plain"'],
    ['say "hi"', '"say \\"hi\\""'],
    ['back\\slash', '"back\\\\slash"'],
    ['$HOME ${PATH}', '"\\$HOME \\${PATH}"'],
    ['two\nlines\r\n\u2028three', '"two lines three"'],
    ['nul\u0000', '"nul "'],
    ['Größe é 中', '"Größe é 中"'],
  ])('%j', (value, expected) => {
    expect(quote(value)).toBe(expected);
  });
});

test('a template keeps its text as it is and escapes no HTML', () => {
  expect(render('a <%= it.x %> & "b"\n', { x: '<&>' })).toBe('a <&> & "b"\n');
});

test('labels are one instruction', () => {
  expect(
    labelArguments([
      ['a', '1'],
      ['b', '2'],
    ]),
  ).toBe('"a"="1" \\\n      "b"="2"');
});
