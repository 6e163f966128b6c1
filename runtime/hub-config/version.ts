/** By `transformers_version` of a config.json; undefined for a file without it. */
export function transformersMajor(config: Readonly<Record<string, unknown>>): number | undefined {
  const major = /^(\d+)\./.exec(String(config['transformers_version'] ?? ''))?.[1];
  return major === undefined ? undefined : Number(major);
}
