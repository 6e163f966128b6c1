import { RunError } from '../../../core/errors.js';
import type { Json } from '../../repository/model-folder.js';
import type { Component, TokenizerJson } from '../tokenizer-json.js';
import { addedRows } from './added-rows.js';
import { SENTENCEPIECE_FAMILIES } from './families.js';
import { hasPrefix, isLegacy, type ModelRow, plainNormalizer, type SentencePieceFamily } from './family.js';
import { mergesOf } from './merges.js';
import type { SentencePieceModel } from './model-file.js';
import { template } from './template.js';

export interface ConvertRequest {
  model: SentencePieceModel;
  /** The class of the tokenizer, without `Tokenizer`. */
  family: string;
  /** Defaults of the class and what the repository says, together. */
  settings: Json;
  /** What the repository says. */
  written: Json;
  /** added_tokens.json */
  addedTokens: Json | undefined;
}

/** What a tokenizer is made of, and the configuration that goes with it. */
export interface Converted {
  json: TokenizerJson;
  config: Json;
}

/**
 * The tokenizer.json that transformers makes of a model of sentencepiece (convert_slow_tokenizer.py).
 * @throws RunError `not_ready` for a model of a kind that transformers doesn't convert
 */
export function convertModel(request: ConvertRequest): Converted {
  const { model, written, addedTokens } = request;
  const family = SENTENCEPIECE_FAMILIES[request.family]!;
  const settings = { ...family.defaults, ...request.settings };
  const rows = family.rows?.(model, settings) ?? model.pieces;
  const ids = new Map(rows.map(({ text }, id) => [text, id]));
  const further = family.further?.(settings) ?? ((settings['additional_special_tokens'] ?? []) as unknown[]);
  const added = addedRows({
    ...{ pieces: model.pieces, specialPieces: new Set(family.specialPieces), flags: family.flags ?? {} },
    ...{ ids, settings, written, addedTokens, further },
  });
  const unknownId = family.unknownId?.(model, settings) ?? model.unknown.id;
  const idOf = (token: string) =>
    added.find(({ content }) => content === token)?.id ?? ids.get(token) ?? unknownId;
  return {
    json: {
      added_tokens: added,
      ...steps(model, { family, settings, written }),
      post_processor: family.frame ? template(family.frame(settings), idOf) : null,
      model: modelOf(model, { rows, unknownId, family }),
    },
    config: { ...settings, additional_special_tokens: further },
  };
}

interface StepSettings {
  family: SentencePieceFamily;
  settings: Json;
  written: Json;
}

function steps(
  { normalizer: { charsMap } }: SentencePieceModel,
  { family, settings: merged, written }: StepSettings,
): Pick<TokenizerJson, 'normalizer' | 'pre_tokenizer' | 'decoder'> {
  const map = charsMap.length === 0 ? [] : [precompiled(charsMap)];
  const chosen = family.choosesPrefix
    ? { add_prefix_space: written['add_prefix_space'] }
    : { add_prefix_space: true, legacy: true };
  const settings = { ...merged, ...chosen };
  const metaspace = {
    ...{ type: 'Metaspace', replacement: '▁', split: true },
    prepend_scheme: schemeOf(settings),
  };
  return {
    normalizer: (family.normalizer ?? plainNormalizer)(map, settings),
    pre_tokenizer: family.preTokenizer ? family.preTokenizer(metaspace, settings) : metaspace,
    decoder: family.decoder?.(metaspace) ?? metaspace,
  };
}

function schemeOf(settings: Json): string {
  if (!hasPrefix(settings)) return 'never';
  return isLegacy(settings) ? 'always' : 'first';
}

function precompiled(charsMap: Uint8Array): Component {
  return { type: 'Precompiled', precompiled_charsmap: Buffer.from(charsMap).toString('base64') };
}

interface ModelSettings {
  rows: readonly ModelRow[];
  unknownId: number;
  family: SentencePieceFamily;
}

function modelOf(
  model: SentencePieceModel,
  { rows, unknownId, family }: ModelSettings,
): TokenizerJson['model'] {
  const bytes = family.bytes === true;
  if (model.kind === 'unigram') {
    const vocab = rows.map(({ text, score }): [string, number] => [text, score]);
    return { type: 'Unigram', unk_id: unknownId, byte_fallback: bytes, vocab, exact_scores: true };
  }
  if (model.kind !== 'bpe')
    throw new RunError(
      'not_ready',
      `the tokenizer's model is of the kind ${model.kind}, which transformers doesn't convert`,
    );
  const ids = new Map<string, number | null>(model.pieces.map(({ text }, id) => [text, id]));
  return {
    type: 'BPE',
    ...{ unk_token: model.unknown.text, fuse_unk: true, byte_fallback: bytes },
    vocab: Object.fromEntries(rows.map(({ text }, id) => [text, id])),
    merges: mergesOf(
      rows,
      family.tabIsByte && !ids.has('\t') ? ids.set('\t', ids.get('<0x09>') ?? null) : ids,
    ),
  };
}
