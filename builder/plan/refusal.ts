import { BuilderError } from '../exit.js';

/** The model can't be served, known before any download. The message has the reason and, if possible, a remedy. */
export class Refusal extends BuilderError {
  override name = 'Refusal';

  constructor(
    readonly reason: string,
    readonly remedy?: string,
  ) {
    super('refused', remedy ? `${reason}; ${remedy}` : reason);
  }
}
