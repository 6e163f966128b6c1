/** By `transformers_version` of a config.json; undefined for a file without it. */
export function transformersMajor(config: Readonly<Record<string, unknown>>): number | undefined {
  const version = config['transformers_version'];
  const major = typeof version === 'string' ? /^(\d+)\./.exec(version)?.[1] : undefined;
  return major === undefined ? undefined : Number(major);
}
