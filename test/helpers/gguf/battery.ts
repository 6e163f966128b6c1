/** Texts at whose cuts tokenizers differ. */
export const BATTERY: readonly string[] = [
  'The quiet river runs through the valley, and the harbour is quiet this morning.',
  "it's they're I'VE we'll he'd I'm don't 'tis rock'n'roll L'EAU S'IL",
  '0 1 12 123 1234 12345 3.14159 1,000,000 2026-11-27 0x1F 1e-9 ½ ² Ⅻ ٣٤٥ 一二三',
  'a  b   c    d\te\t\tf\n\ng \n h\r\n\r\ni  \n  j   ',
  '   leading, trailing   ',
  '\n\n\n',
  ' \t \u00a0 \u3000 \u2028 x',
  'camelCase PascalCase SCREAMING_CASE snake_case kebab-case HTTPServer iOS eBay XMLHttpRequest',
  'Ünïcödé naïve café cafe\u0301 Ångström A\u030angstro\u0308m Straße ΑΒΓ αβγ Дом ДОМ',
  '中文字符和标点符号，。！東京都の天気は晴れです。한국어 문장입니다. ภาษาไทย हिन्दी में العربية',
  'emoji 😀👍🏽👩‍👩‍👧‍👦🇩🇪 and ☃ ™ © № € £ ∑ ∞ →',
  'if (x != y) { return a[i]++ << 2; } // comment\n\tdef f(self): pass\n#include <stdio.h>\n',
  '<html lang="en">&nbsp;</html> {"key": [1, -2.5, null]} https://example.com/a?b=c&d=%20#e',
  '...!!! ??? --- *** ___ ((())) //// \\\\\\\\ $$$ `code` ~tilde~ |pipe|',
  'a/b c\\d e.g. i.e. U.S.A. Mr. 10% $5.00 #tag @user C++ C# .NET',
  'ǅ ʰ ͅ ـ 〆 ㈱ ꙮ \u200b zero\u200dwidth \ufeffbom',
  'ſ ﬁ Ａ１ İi ıI ß ẞ',
];

const KINDS = [
  ...['abcdeé', 'ABCDEÉ', '0123456789', ' ', '  ', '\n', '\r\n', '\t', ".,;:!?'", '-_/\\#@', '中文字', '́̈'],
  ...['😀☃', "'s", "'LL", 'Ǆǅ', 'ʰـ', '½²', '\u00a0'],
];

/** Texts of random stretches, the same for the same seed. */
export function randomTexts(count: number, seed: number): string[] {
  let state = seed;
  const random = (below: number) => (state = (state * 48_271) % 2_147_483_647) % below;
  const stretch = () => {
    const letters = Array.from(KINDS[random(KINDS.length)]!);
    return Array.from({ length: 1 + random(4) }, () => letters[random(letters.length)]!).join('');
  };
  return Array.from({ length: count }, () => Array.from({ length: 1 + random(12) }, stretch).join(''));
}
