/** True for what JSON calls an object: no list, not null. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The type that a configuration names; undefined for what is no text. */
export function modelTypeOf(config: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const type = config?.['model_type'];
  return typeof type === 'string' ? type : undefined;
}
