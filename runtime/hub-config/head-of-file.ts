import { transformersMajor } from './version.js';

type Json = Record<string, unknown>;

/** Where a tensor lies; those of a checkpoint that share their numbers lie in one place. */
interface Place {
  file: string;
  offset: number;
}

/** What checkpoints call the matrix of a head that reads the table of tokens where it has none of its own. */
const HEAD = /(?:^|\.)(?:lm_head|proj_out|output_projection|embed_out)\.weight$|^decoder\.weight$/;

/**
 * In version 5 a head that a checkpoint holds counts, whatever config.json says of sharing the table; version 4 shares it.
 * @param config in one form (normalizeConfig)
 * @param index the checkpoint's tensors by name
 */
export function withHeadOfFile(config: Readonly<Json>, index: ReadonlyMap<string, Place>): Readonly<Json> {
  if ((transformersMajor(config) ?? 4) < 5 || !hasOwnHead(index)) return config;
  const { text_config: text } = config;
  const untied = { ...config, tie_word_embeddings: false };
  return typeof text === 'object' && text !== null
    ? { ...untied, text_config: { ...text, tie_word_embeddings: false } }
    : untied;
}

/** A .bin file names shared numbers twice: such a head is none of its own. */
function hasOwnHead(index: ReadonlyMap<string, Place>): boolean {
  const heads = [...index].filter(([name]) => HEAD.test(name));
  const isShared = ({ file, offset }: Place, own: string) =>
    [...index].some(([name, other]) => name !== own && other.file === file && other.offset === offset);
  return heads.some(([name, place]) => !isShared(place, name));
}
