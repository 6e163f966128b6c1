import { RunError } from '../../../core/errors.js';
import { codeOfLanguage } from './whisper-languages.js';

/**
 * The code of a language that a request names, by its code or its English name.
 * @param known codes
 * @throws RunError 422 for a language that the model does not know
 */
export function languageCode(given: string, known: readonly string[]): string {
  const code = codeOfLanguage(given.trim().toLowerCase());
  if (known.includes(code)) return code;
  const listed = known.join(', ');
  throw new RunError(
    'unprocessable',
    `params.language: ${given.slice(0, 40)} is not known to this model; it knows ${listed}`,
  );
}
