/** Fields of config.json that change no answer, whatever they say. */
export interface Inert {
  fields: RegExp;
  /** Model types, of the model or of a part; all of them if absent. */
  types?: RegExp;
  reason: string;
}
