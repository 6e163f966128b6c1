const SMALL = [
  ...[
    'zero',
    'one',
    'two',
    'three',
    'four',
    'five',
    'six',
    'seven',
    'eight',
    'nine',
    'ten',
    'eleven',
    'twelve',
  ],
  ...['thirteen', 'fourteen', 'fifteen', 'sixteen', 'seventeen', 'eighteen', 'nineteen'],
];
const TENS = ['twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'];

/** A whole number under a million in English words, as num2words writes it. */
export function numberWords(value: number): string {
  if (value < 20) return SMALL[value]!;
  if (value < 100) {
    const [tens, rest] = [TENS[Math.floor(value / 10) - 2]!, value % 10];
    return rest === 0 ? tens : `${tens}-${SMALL[rest]}`;
  }
  if (value < 1000) return joined(`${SMALL[Math.floor(value / 100)]} hundred`, value % 100, ' and ');
  const rest = value % 1000;
  return joined(`${numberWords(Math.floor(value / 1000))} thousand`, rest, rest < 100 ? ' and ' : ', ');
}

const joined = (words: string, rest: number, between: string): string =>
  rest === 0 ? words : words + between + numberWords(rest);
