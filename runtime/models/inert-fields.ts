/** Fields of a family's config.json that change no answer, whatever they say. */
export interface InertFields {
  fields: RegExp;
  /** Path of the part that they stand in, as `decoder_config`; of the model itself if absent, and of parts of its type. */
  part?: string;
  reason: string;
}

/** Exactly these names. */
export const named = (...names: string[]): RegExp => new RegExp(`^(?:${names.join('|')})$`);
