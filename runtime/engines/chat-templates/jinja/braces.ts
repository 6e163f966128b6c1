import { str } from './text.js';
import { fail, type Value } from './values.js';

/** Python's `'{} and {1}'.format(…)` of values by their place; names and format specifications are refused. */
export function fillBraces(template: string, values: Value[]): string {
  let next = 0;
  return template.replaceAll(/\{\{|\}\}|\{([^{}]*)\}/g, (all, field?: string) => {
    if (field === undefined) return all[0]!;
    if (!/^\d*$/.test(field)) fail(`format field {${field}} is not supported`);
    const at = field === '' ? next++ : Number(field);
    return at < values.length ? str(values[at]) : fail('Replacement index out of range');
  });
}
