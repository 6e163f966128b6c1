const NONE = '–';

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** `1.5 GB`, of 1000s, as the options of the gateway are. */
export function bytes(amount: number): string {
  let value = amount;
  let unit = 0;
  for (; value >= 999.5 && unit < UNITS.length - 1; unit++) value /= 1000;
  return `${value >= 100 || unit === 0 ? Math.round(value) : Number(value.toFixed(value >= 10 ? 1 : 2))} ${UNITS[unit]}`;
}

/** `12 ms`, `1.3 s`. */
export function duration(seconds: number | null): string {
  if (seconds === null) return NONE;
  if (seconds < 0.995) return `${Number((seconds * 1000).toFixed(seconds < 0.01 ? 1 : 0))} ms`;
  return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
}

/** A time that somebody chose: `60 s`, `15 min`, `2 h`. */
export function span(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds % 3600 === 0) return `${seconds / 3600} h`;
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${count(seconds)} s`;
}

export const count = (amount: number): string => amount.toLocaleString('en');

/** Billions of parameters as `110M`, `7B`. */
export function params(billions: number | null): string {
  if (billions === null) return NONE;
  if (billions >= 1) return `${Number(billions.toFixed(1))}B`;
  return billions >= 0.001
    ? `${Number((billions * 1000).toPrecision(3))}M`
    : `${Math.round(billions * 1e6)}k`;
}

/** `812`, `12.3k`, `4.1M`. */
export const short = (amount: number): string =>
  amount.toLocaleString('en', { notation: 'compact', maximumFractionDigits: 1 });

/** `$1.20`; amounts below a cent with two digits that count. */
export function dollars(amount: number): string {
  if (amount === 0) return '$0';
  if (amount < 1e-4) return '< $0.0001';
  if (amount >= 0.01)
    return `$${amount.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
  return `$${amount.toLocaleString('en', { maximumSignificantDigits: 2 })}`;
}

/** `1,200 tokens read, 300 written`; empty where none were counted. */
export function tokens({ tokensIn, tokensOut }: { tokensIn: number; tokensOut: number }): string {
  if (tokensIn + tokensOut === 0) return '';
  return `${plural(tokensIn, 'token')} read, ${count(tokensOut)} written`;
}

export const time = (at: number | string): string => new Date(at).toLocaleString();

export const plural = (amount: number, one: string): string =>
  `${count(amount)} ${amount === 1 ? one : `${one}s`}`;
