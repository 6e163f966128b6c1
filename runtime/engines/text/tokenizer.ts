import { Tokenizer } from '@huggingface/tokenizers';
import { type Json, readJson, readOptionalJson } from '../model-folder.js';

export interface Encoded {
  ids: number[];
  /** Segment of each token: 0, or 1 for the second text of a pair. */
  typeIds: number[];
}

export interface EncodeOptions {
  /** Longest result in tokens, special tokens included; absent: no limit. */
  maxLength?: number | undefined;
  /** False: the text as it stands (a rendered chat template holds its own special tokens). */
  specialTokens?: boolean;
}

export interface TextTokenizer {
  /** Tokenises as Python's fast tokenizers do: cut texts keep their special tokens. */
  encode(text: string, options?: EncodeOptions): Encoded;
  /** Text of the ids without special tokens. */
  decode(ids: readonly number[]): string;
  /** `model_max_length`, where the repository sets a real one. */
  readonly modelMaxLength: number | undefined;
  /** True when decoding joins punctuation to the word before it (`clean_up_tokenization_spaces`). */
  readonly cleansUp: boolean;
  readonly config: Json;
}

/** Python writes "no limit" as 1e30. */
const NO_LIMIT = 1e20;

/** Reads tokenizer.json and tokenizer_config.json of a model folder. */
export async function loadTokenizer(dir: string): Promise<TextTokenizer> {
  const [json, config] = await Promise.all([
    readJson(dir, 'tokenizer.json'),
    readOptionalJson(dir, 'tokenizer_config.json').then((value) => value ?? {}),
  ]);
  return createTokenizer(json, config);
}

export function createTokenizer(json: Json, config: Json): TextTokenizer {
  const tokenizer = new Tokenizer(json, { ...config, additional_special_tokens: [] });
  const frame = specialTokenFrame(tokenizer, config);
  const cutLeft = config['truncation_side'] === 'left';
  const limit = config['model_max_length'];
  const cleansUp = config['clean_up_tokenization_spaces'] === true;
  return {
    config,
    cleansUp,
    modelMaxLength: typeof limit === 'number' && limit > 0 && limit < NO_LIMIT ? limit : undefined,
    encode(text, { maxLength, specialTokens = true } = {}) {
      const ids: number[] = tokenizer.encode(text, { add_special_tokens: false }).ids;
      const { before, after } = specialTokens ? frame : NO_FRAME;
      const room = Math.max(0, (maxLength ?? Infinity) - before.length - after.length);
      const kept = ids.length <= room ? ids : cutLeft ? ids.slice(ids.length - room) : ids.slice(0, room);
      const all = [...before, ...kept, ...after];
      return { ids: all, typeIds: new Array<number>(all.length).fill(0) };
    },
    decode(ids) {
      if (ids.length === 0) return '';
      return tokenizer.decode([...ids], {
        skip_special_tokens: true,
        clean_up_tokenization_spaces: cleansUp,
      });
    },
  };
}

interface Frame {
  before: number[];
  after: number[];
}

const NO_FRAME: Frame = { before: [], after: [] };

/**
 * What the post-processor puts around a single text. Python's Llama-family classes build that frame from
 * add_bos_token and add_eos_token, whatever tokenizer.json says.
 */
function specialTokenFrame(tokenizer: Tokenizer, config: Json): Frame {
  const name = String(config['tokenizer_class'] ?? '');
  if (!/^(Code)?(Llama|Gemma)Tokenizer(Fast)?$/.test(name)) return probedFrame(tokenizer);
  const id = (key: string): number[] => {
    const found = tokenizer.token_to_id(tokenText(config[key]));
    return found === undefined ? [] : [found];
  };
  return {
    before: config['add_bos_token'] === false ? [] : id('bos_token'),
    after: config['add_eos_token'] === true ? id('eos_token') : [],
  };
}

/** Encodes a probe with and without special tokens: what is around the probe is the frame. */
function probedFrame(tokenizer: Tokenizer): Frame {
  const probe = 'a';
  const bare: number[] = tokenizer.encode(probe, { add_special_tokens: false }).ids;
  const framed: number[] = tokenizer.encode(probe, { add_special_tokens: true }).ids;
  for (let start = 0; start + bare.length <= framed.length; start++) {
    if (bare.every((id, i) => framed[start + i] === id)) {
      return { before: framed.slice(0, start), after: framed.slice(start + bare.length) };
    }
  }
  return NO_FRAME;
}

/** A special token in tokenizer_config.json is a string or an AddedToken object. */
export function tokenText(token: unknown): string {
  if (typeof token === 'string') return token;
  const content = (token as { content?: unknown } | null | undefined)?.content;
  return typeof content === 'string' ? content : '';
}
