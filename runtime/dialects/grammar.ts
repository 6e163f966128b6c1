import { RunError } from '../core/errors.js';

/** Text Generation Inference's `grammar`: `{type: json|json_object|json_schema|regex, value}`. @throws RunError 400 */
export function grammarParams(grammar: unknown): Record<string, unknown> {
  const { type, value } = Object(grammar) as Record<string, unknown>;
  if (type === 'regex' && typeof value === 'string') return { regex: value };
  if (type === 'json' || type === 'json_object') return { json_schema: value };
  if (type === 'json_schema') return { json_schema: (Object(value) as Record<string, unknown>)['schema'] };
  throw new RunError('invalid_input', 'grammar: must be {"type": "json" or "regex", "value": …}');
}
