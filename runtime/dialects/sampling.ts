/** What a request says of how tokens are drawn. */
export interface Drawing {
  temperature?: number | null | undefined;
  top_p?: number | null | undefined;
  typical_p?: number | null | undefined;
  /** Below 1: from all tokens. */
  top_k?: number | null | undefined;
  min_p?: number | null | undefined;
}

/**
 * Params of generate() for drawing tokens. Sampling is on only where the request asks for it: by a temperature above 0, by
 * what narrows the choice, or by several answers. A temperature of 0 is greedy.
 */
export function drawingParams(
  { temperature, top_p, typical_p, top_k: given, min_p }: Drawing,
  isMultiple = false,
): Record<string, unknown> {
  const top_k = given != null && given < 1 ? undefined : given;
  const narrowed = (top_p ?? 1) < 1 || (typical_p ?? 1) < 1 || top_k != null || (min_p ?? 0) > 0;
  return {
    do_sample: temperature == null ? narrowed || isMultiple || undefined : temperature > 0,
    temperature: temperature || undefined,
    ...{ top_p, typical_p, top_k, min_p },
  };
}

/** Stop strings without empty ones; undefined where none is left. */
export function stopStrings(stop: string | readonly string[] | null | undefined): string[] | undefined {
  const found = [stop ?? []].flat().filter((one) => one !== '');
  return found.length === 0 ? undefined : found;
}
