const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
];

type Part = (date: Date) => string;
const two = (size: number) => String(size).padStart(2, '0');
const dayOfYear = (date: Date) =>
  Math.round(
    (Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) - Date.UTC(date.getFullYear(), 0)) / 864e5,
  ) + 1;

const PARTS: Record<string, Part> = {
  Y: (date) => String(date.getFullYear()),
  y: (date) => two(date.getFullYear() % 100),
  m: (date) => two(date.getMonth() + 1),
  B: (date) => MONTHS[date.getMonth()]!,
  b: (date) => MONTHS[date.getMonth()]!.slice(0, 3),
  h: (date) => MONTHS[date.getMonth()]!.slice(0, 3),
  d: (date) => two(date.getDate()),
  e: (date) => String(date.getDate()).padStart(2),
  j: (date) => String(dayOfYear(date)).padStart(3, '0'),
  A: (date) => DAYS[date.getDay()]!,
  a: (date) => DAYS[date.getDay()]!.slice(0, 3),
  w: (date) => String(date.getDay()),
  u: (date) => String(date.getDay() || 7),
  H: (date) => two(date.getHours()),
  I: (date) => two(date.getHours() % 12 || 12),
  M: (date) => two(date.getMinutes()),
  S: (date) => two(date.getSeconds()),
  f: (date) => `${String(date.getMilliseconds()).padStart(3, '0')}000`,
  p: (date) => (date.getHours() < 12 ? 'AM' : 'PM'),
  s: (date) => String(Math.floor(date.getTime() / 1000)),
  n: () => '\n',
  t: () => '\t',
  '%': () => '%',
  // What datetime.now() knows of time zones.
  z: () => '',
  Z: () => '',
};
const WHOLE: Record<string, string> = {
  ...{ D: '%m/%d/%y', x: '%m/%d/%y', F: '%Y-%m-%d', T: '%H:%M:%S', X: '%H:%M:%S', R: '%H:%M' },
  c: '%a %b %e %H:%M:%S %Y',
};

/** Python's strftime in the C locale, by the machine's clock and zone; `%-d` leaves zeros out. */
export function strftime(format: string, date: Date): string {
  const spelled = format.replaceAll(/%([DxFTXRc])/g, (_, letter: string) => WHOLE[letter]!);
  return spelled.replaceAll(/%(-?)([a-zA-Z%])/g, (all, dash: string, letter: string) => {
    if (!Object.hasOwn(PARTS, letter)) return all;
    const text = PARTS[letter]!(date);
    return dash ? text.replace(/^[0 ]+(?=.)/, '') : text;
  });
}
