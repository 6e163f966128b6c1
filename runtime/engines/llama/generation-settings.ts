import type { Json } from '../repository/model-folder.js';
import type { LlamaModel } from './llama.js';

/** Names that files have for settings of sampling, and transformers'. */
const SAMPLING = [
  ['general.sampling.temp', 'temperature'],
  ['general.sampling.top_k', 'top_k'],
  ['general.sampling.top_p', 'top_p'],
  ['general.sampling.min_p', 'min_p'],
  ['general.sampling.penalty_repeat', 'repetition_penalty'],
] as const;

/** What generation_config.json would say. */
export function generationSettings({
  vocabulary,
  metadata,
}: Pick<LlamaModel, 'vocabulary' | 'metadata'>): Json {
  const { special, size } = vocabulary;
  const ends = Array.from({ length: size }, (_, id) => id).filter((id) => vocabulary.ends(id));
  const sampling = SAMPLING.flatMap(([key, name]) => {
    const value = Number(metadata(key) ?? Number.NaN);
    return Number.isFinite(value) ? [[name, value] as const] : [];
  });
  return {
    eos_token_id: ends,
    ...(special.bos !== undefined && { bos_token_id: special.bos }),
    ...(special.pad !== undefined && { pad_token_id: special.pad }),
    ...Object.fromEntries(sampling),
    ...(sampling.some(([name]) => name === 'temperature') && { do_sample: true }),
  };
}
