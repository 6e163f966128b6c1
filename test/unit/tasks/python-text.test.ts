import { formatOne, strip } from '../../../runtime/tasks/python-text.js';

test.each([
  ['This is {}.', 'This is x.'],
  ['{0} and {0}', 'x and x'],
  ['{{{}}} {{}}', '{x} {}'],
  ['no field', 'no field'],
])('fills %j as str.format does', (template, expected) => {
  expect(formatOne(template)!('x')).toBe(expected);
});

test.each(['{} {}', '{} {0}', '{', '}', '{label}', '{:>9}', '{1}', '{!r}', '{0.__class__}', '{ }'])(
  'refuses %j',
  (template) => {
    expect(formatOne(template)).toBeUndefined();
  },
);

test('a label is no template', () => {
  expect(formatOne('a {}')!('{} $& {0}')).toBe('a {} $& {0}');
});

test("strips what Python takes for blanks, which is not what JavaScript's trim takes", () => {
  expect(strip('\x1c\x85 a b\u3000\u00a0\n')).toBe('a b');
  expect(strip('\ufeffa\u200b')).toBe('\ufeffa\u200b');
  expect(strip(`a${' '.repeat(1e6)}b `)).toHaveLength(1e6 + 2);
  expect(strip(' \t')).toBe('');
});
