import { RunError } from '../../core/errors.js';
import { processingProblem } from '../../hub-config/processing.js';
import type { Json } from '../repository/model-folder.js';

/** The settings of a processor, as they are. @throws RunError `not_ready` that names a setting which no class can take */
export function checkedProcessing<T extends Json | undefined>(file: string, settings: T): T {
  const problem = settings && processingProblem(settings);
  if (problem === undefined) return settings;
  throw new RunError('not_ready', `${file}: ${problem}`);
}
