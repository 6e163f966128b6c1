/** Fields of config.json that change no answer, whatever they say. */
export interface Inert {
  fields: RegExp;
  /** Model types, of the model or of a part; all of them if absent. */
  types?: RegExp;
  /** Type of the whole model and path of the part, as `maskformer.decoder_config.`; all of them if absent. */
  within?: RegExp;
  reason: string;
}

/** Exactly these names. */
export const named = (...names: string[]): RegExp => new RegExp(`^(?:${names.join('|')})$`);
