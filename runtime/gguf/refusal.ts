import { DAMAGED_REMEDY, WeightsError, type WeightsErrorCode } from '../weights/errors.js';

/** Makes the refusal of one file. */
export type Refuse = (code: WeightsErrorCode, what: string, remedy?: string) => WeightsError;

export const refusalsOf =
  (path: string): Refuse =>
  (code, what, remedy = DAMAGED_REMEDY) =>
    new WeightsError(path, { code, what, remedy });
