/** Splits a list of origins at commas and blanks. @returns undefined where one is no origin, such as an address with a path */
export function parseOrigins(text: string): string[] | undefined {
  const origins = text.split(/[\s,]+/).filter(Boolean);
  const isOrigin = (one: string) => one === '*' || (URL.canParse(one) && originOf(one) === one);
  return origins.every(isOrigin) ? origins : undefined;
}

function originOf(address: string): string {
  const { protocol, host } = new URL(address);
  return `${protocol}//${host}`;
}
