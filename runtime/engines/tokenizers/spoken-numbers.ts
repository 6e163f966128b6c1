import { RunError } from '../../core/errors.js';

/** EnglishNumberNormalizer of SpeechT5's tokenizer: numbers as English words. */

const ONES = ['', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];
const TEENS = [
  ...['', 'eleven', 'twelve', 'thirteen', 'fourteen', 'fifteen', 'sixteen', 'seventeen', 'eighteen'],
  'nineteen',
];
const TENS = ['', 'ten', 'twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'];
const THOUSANDS = [
  ...['', 'thousand', 'million', 'billion', 'trillion', 'quadrillion', 'quintillion', 'sextillion'],
  ...['septillion', 'octillion', 'nonillion', 'decillion'],
];

/** In the order in which they are looked for. */
const CURRENCIES: readonly [symbol: string, name: string][] = [
  ['$', ' dollars'],
  ['€', ' euros'],
  ['£', ' pounds'],
  ['¢', ' cents'],
  ['¥', ' japanese yen'],
  ['﷼', ' saudi riyal'],
  ['₹', ' indian rupees'],
  ['₽', ' russian rubles'],
  ['฿', ' thai baht'],
  ['₺', ' turkish liras'],
  ['₴', ' ukrainian hryvnia'],
  ['₣', ' swiss francs'],
  ['₡', ' costa rican colon'],
  ['₱', ' philippine peso'],
  ['₪', ' israeli shekels'],
  ['₮', ' mongolian tögrög'],
  ['₩', ' south korean won'],
  ['₦', ' nigerian naira'],
  ['₫', ' vietnamese Đồng'],
];

/** Numbers with commas, which are left out first. */
export const NUMBER_WITH_COMMA = /\p{Nd}+,\p{Nd}+/gu;

/** Numbers with what stands around them, where no letter does. */
export const SPOKEN_NUMBER =
  /(?<![\p{L}\p{N}_])-?\$?€?£?¢?¥?₹?₽?฿?₺?₴?₣?₡?₱?₪?₮?₩?₦?₫?﷼?\p{Nd}+(?:\.\p{Nd}{1,2})?%?(?![\p{L}\p{N}_])/gu;

/** Blocks of ten digits stand behind each other in Unicode, also where there are several. */
function digitOf(char: string): number {
  const code = char.codePointAt(0)!;
  let below = 0;
  while (/^\p{Nd}$/u.test(String.fromCodePoint(code - below - 1))) below++;
  return below % 10;
}

/** A number of up to three digits. */
function spelled(number: number): string {
  if (number === 0) return 'zero';
  const [hundreds, rest] = [Math.floor(number / 100), number % 100];
  const tens =
    rest > 10 && rest < 20
      ? TEENS[rest - 10]!
      : [TENS[Math.floor(rest / 10)]!, ONES[rest % 10]!].filter(Boolean).join(' ');
  return [hundreds > 0 ? `${ONES[hundreds]!} hundred` : '', tens].filter(Boolean).join(' and ');
}

/** Digits from the left, by threes. @throws RunError 422 for more than there are words for */
function spelledWhole(digits: readonly number[]): string {
  const chunks = Math.ceil(digits.length / 3);
  const padded = [...new Array<number>(3 * chunks - digits.length).fill(0), ...digits];
  const parts: string[] = [];
  for (let i = 0; i < chunks; i++) {
    const [a, b, c] = padded.slice(3 * i, 3 * i + 3) as [number, number, number];
    const number = 100 * a + 10 * b + c;
    if (number === 0) continue;
    const unit = THOUSANDS[chunks - 1 - i];
    if (unit === undefined) throw unspoken();
    parts.push([spelled(number), unit].filter(Boolean).join(' '));
  }
  return parts.join(' ');
}

const unspoken = (): RunError =>
  new RunError('unprocessable', 'text: has a number that this model has no words for: write it in words');

/** The name of the currency, and the number without it. Python looks behind a minus, too. */
function withoutCurrency(whole: string): [name: string, rest: string] {
  for (const [symbol, name] of CURRENCIES) {
    if (whole.startsWith(symbol)) return [name, whole.slice(symbol.length)];
    if (whole.startsWith(`-${symbol}`)) return [name, `-${whole.slice(symbol.length + 1)}`];
  }
  return ['', whole];
}

/**
 * @param number as SPOKEN_NUMBER finds it
 * @throws RunError 422 for a number of two currencies, or one that is too large, on which Python fails
 */
export function spokenNumber(number: string): string {
  const [whole, decimals = '00'] = number.split('.') as [string, string?];
  const [currency, amount] = withoutCurrency(whole);
  const minus = amount.startsWith('-') ? 'minus ' : '';
  const percent = number.includes('%') ? ' percent' : '';
  const digits = amount.slice(minus === '' ? 0 : 1).replaceAll('%', '');
  if (!/^\p{Nd}+$/u.test(digits)) throw unspoken();
  const spoken = spelledWhole(Array.from(digits, digitOf));
  const places = decimals.replaceAll('%', '');
  const behind =
    places === '00' ? '' : ` point ${Array.from(places, (one) => spelled(digitOf(one))).join(' ')}`;
  return `${minus}${spoken}${behind}${percent}${currency}`;
}
