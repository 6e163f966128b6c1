import { Eta } from 'eta';

const eta = new Eta({ autoEscape: false, autoTrim: false, useWith: false });

/** Fills an eta template; templates must use `it.quote` for every foreign value. */
export function render(template: string, values: Record<string, unknown>): string {
  return eta.renderString(template, { ...values, quote });
}

/**
 * Quotes `value` as a Dockerfile word without expansion. Runs of control characters become one space, because
 * Dockerfiles can't escape them.
 */
export function quote(value: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are to be replaced
  const printable = value.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ');
  return `"${printable.replace(/[\\"$]/g, '\\$&')}"`;
}

/** The arguments of a single LABEL instruction, since the classic builder is slow with many. */
export function labelArguments(labels: readonly (readonly [string, string])[]): string {
  return labels.map(([name, value]) => `${quote(name)}=${quote(value)}`).join(' \\\n      ');
}
