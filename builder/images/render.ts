import { Eta } from 'eta';

const eta = new Eta({ autoEscape: false, autoTrim: false, useWith: false });

/** Fills an eta template; `quote` is in scope as `it.quote` for every value that is not ours. */
export function render(template: string, values: Record<string, unknown>): string {
  return eta.renderString(template, { ...values, quote });
}

/**
 * A double-quoted Dockerfile word that stands for exactly `value`, except that each run of control characters becomes
 * one space: Dockerfiles have no escape for them. Nothing is expanded.
 */
export function quote(value: string): string {
  // eslint-disable-next-line no-control-regex -- they are what must go
  const printable = value.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ');
  return `"${printable.replace(/[\\"$]/g, '\\$&')}"`;
}

/** The arguments of one LABEL instruction; one, because the classic builder takes a moment for each. */
export function labelArguments(labels: readonly (readonly [string, string])[]): string {
  return labels.map(([name, value]) => `${quote(name)}=${quote(value)}`).join(' \\\n      ');
}
