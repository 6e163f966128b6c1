import type { Json } from '../repository/model-folder.js';
import { createEncoding, createOffsetEncodings, type TextOrPair } from '../tokenizers/encoding.js';
import type { EncodingTemplate, EncodingTemplates } from '../tokenizers/encoding-template.js';
import { NO_SPECIAL_TOKENS, specialCount } from '../tokenizers/encoding-template.js';
import type { TokenizedText } from '../tokenizers/tokenize.js';
import type { EncodeTextOptions, TextTokenizer } from '../tokenizers/tokenizer.js';
import { TOKEN_BITS } from './ffi/layouts.js';
import type { LlamaVocabulary, SpecialName } from './llama.js';
import { tracesOf } from './token-traces.js';

export interface LlamaTokenizer extends TextTokenizer {
  /** The same tokens, made beside the thread of JavaScript. */
  encodeAside(text: string, options: EncodeTextOptions): Promise<number[]>;
}

/** The tokenizer of a file, by llama.cpp's own code, as what the rest of the server reads and writes text with. */
export function createLlamaTokenizer(vocabulary: LlamaVocabulary, templates: Json = {}): LlamaTokenizer {
  const { size, special } = vocabulary;
  const table = readTable(vocabulary);
  const layouts = layoutsOf(vocabulary);
  const plain = vocabulary.addsPrefixSpace;
  const config = configOf(vocabulary, templates);
  const tokenize = (text: string, { traces = false } = {}): TokenizedText => {
    const ids = vocabulary.tokenize(wellFormed(text), false);
    return traces ? { ids, traces: tracesOf(text, ids, vocabulary) } : { ids };
  };
  const isSpecial = (id: number) => (vocabulary.attributes(id) & SPECIAL_BITS) !== 0;
  const pieces: (number[] | undefined)[] = [];
  const bytesOf = (id: number): number[] => (pieces[id] ??= [...vocabulary.piece(id, true)]);
  return {
    config,
    modelMaxLength: undefined,
    paddingSide: 'left',
    tokenize,
    encode(text, { pair, specialTokens = true, ...options } = {}) {
      const texts: TextOrPair<TokenizedText> =
        pair === undefined ? [tokenize(text)] : [tokenize(text), tokenize(pair)];
      const { single, pair: both } = specialTokens ? layouts : NO_SPECIAL_TOKENS;
      return createEncoding(texts, { ...options, layout: pair === undefined ? single : both, left: false });
    },
    async encodeAside(text, { pair, specialTokens = true, ...options }) {
      const aside = async (one: string) => ({ ids: await vocabulary.tokenizeAside(wellFormed(one)) });
      const texts: TextOrPair<TokenizedText> =
        pair === undefined ? [await aside(text)] : [await aside(text), await aside(pair)];
      const { single, pair: both } = specialTokens ? layouts : NO_SPECIAL_TOKENS;
      const layout = pair === undefined ? single : both;
      return createEncoding(texts, { ...options, layout, left: false }).ids;
    },
    row: (texts, options = {}) =>
      createEncoding(texts, {
        ...options,
        layout: texts.length === 1 ? layouts.single : layouts.pair,
        left: false,
      }),
    tracedRows: (texts, options = {}) =>
      createOffsetEncodings(texts, {
        ...options,
        ...{ layout: texts.length === 1 ? layouts.single : layouts.pair, left: false, trims: [] },
      }),
    specialCount: (texts) => specialCount(texts === 1 ? layouts.single : layouts.pair),
    idLimit: size,
    idOf: (token) => table.ids().get(token),
    tokenOf: (id) => (id >= 0 && id < size ? vocabulary.text(id) : undefined),
    tokensLike: (pattern) => [...table.ids().keys()].filter((token) => pattern.test(token)),
    bytesOf,
    namedId: (name) => special[name.replace(/_token$/, '') as SpecialName],
    specialIds: new Set(Object.values(special)),
    marksSubwords: vocabulary.kind === 'wpm',
    specialText: (id) => (id >= 0 && id < size && isSpecial(id) ? vocabulary.text(id) : undefined),
    get specialTexts() {
      return table.special();
    },
    join: (tokens) =>
      textOf(
        tokens.flatMap((token) => table.ids().get(token) ?? []),
        bytesOf,
        plain,
      ),
    decode(ids, { skipSpecialTokens = true } = {}) {
      const kept = ids.filter((id) => id >= 0 && id < size && !(skipSpecialTokens && isSpecial(id)));
      return textOf(kept, bytesOf, plain);
    },
    openBytes(ids) {
      const isByte = (id: number) => (vocabulary.attributes(id) & TOKEN_BITS.byte) !== 0;
      const last = ids.findLastIndex((id) => !isByte(id));
      return ids.length - 1 - last;
    },
  };
}

/** Tokens that leave no text. */
const SPECIAL_BITS = TOKEN_BITS.control | TOKEN_BITS.unknown;

/** Half a character, which JSON can bring and UTF-8 can't hold. */
const wellFormed = (text: string): string => text.replace(/\p{Cs}/gu, '\ufffd');

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** @param plain the blank that the tokenizer put before the text is taken away again */
function textOf(ids: readonly number[], bytesOf: (id: number) => number[], plain: boolean): string {
  const text = decoder.decode(Uint8Array.from(ids.flatMap(bytesOf)));
  return plain && text.startsWith(' ') ? text.slice(1) : text;
}

interface Table {
  ids(): ReadonlyMap<string, number>;
  special(): readonly string[];
}

/** Ids by tokens: made when they are first asked for. */
function readTable(vocabulary: LlamaVocabulary): Table {
  let ids: Map<string, number> | undefined;
  let special: string[] | undefined;
  const all = () => Array.from({ length: vocabulary.size }, (_, id) => id);
  return {
    ids: () => (ids ??= new Map(all().map((id) => [vocabulary.text(id), id]))),
    special: () =>
      (special ??= all()
        .filter((id) => (vocabulary.attributes(id) & TOKEN_BITS.control) !== 0)
        .map((id) => vocabulary.text(id))),
  };
}

/** What stands around a text is what llama.cpp makes of an empty one; between two texts both end, as its server does it. */
function layoutsOf(vocabulary: LlamaVocabulary): EncodingTemplates {
  const { addsBos, addsEos, addsSep, special, kind } = vocabulary;
  const tokens = (ids: readonly number[]): EncodingTemplate => ids.map((id) => ({ id, type: 0 }));
  const around = kind === 'none' ? [] : vocabulary.tokenize('', true);
  const begins = addsBos && around[0] === special.bos ? 1 : 0;
  const [first, last] = [tokens(around.slice(0, begins)), tokens(around.slice(begins))];
  const slot = (sequence: 0 | 1) => ({ sequence, type: 0, laterType: 0 });
  const between = [addsEos ? special.eos : undefined, addsSep ? special.sep : undefined];
  const ends = tokens(between.filter((id) => id !== undefined));
  return {
    single: [...first, slot(0), ...last],
    pair: [...first, slot(0), ...ends, slot(1), ...last],
  };
}

/** As tokenizer_config.json has it. */
function configOf({ special, text, size }: LlamaVocabulary, templates: Json): Json {
  const named = Object.entries(special).filter(([name, id]) => name !== 'nl' && name !== 'eot' && id < size);
  return {
    ...Object.fromEntries(named.map(([name, id]) => [`${name}_token`, text(id)])),
    ...templates,
    clean_up_tokenization_spaces: false,
  };
}
