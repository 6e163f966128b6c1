import { BuilderError } from '../exit.js';

/** A model that can't be served, found out before any weight byte has moved: why, and the way out where there is one. */
export class Refusal extends BuilderError {
  override name = 'Refusal';

  constructor(
    readonly reason: string,
    readonly remedy?: string,
  ) {
    super('refused', remedy ? `${reason}; ${remedy}` : reason);
  }
}
