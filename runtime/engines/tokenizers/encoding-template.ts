import type { Component } from './tokenizer-json.js';

/** A token that the post-processor puts there. */
export interface SpecialToken {
  id: number;
  /** Segment number of the token. */
  type: number;
}

/** The place of a text's own tokens. */
export interface SequenceSlot {
  /** 0: the first text, 1: the second. */
  sequence: 0 | 1;
  type: number;
  /** Segment number in all windows but the first one, which the Rust library forgets to set. */
  laterType: number;
}

export type EncodingTemplate = readonly (SpecialToken | SequenceSlot)[];

/** What `post_processor` of tokenizer.json makes of one text and of two. */
export interface EncodingTemplates {
  single: EncodingTemplate;
  pair: EncodingTemplate;
}

export const isSequenceSlot = (item: SpecialToken | SequenceSlot): item is SequenceSlot => 'sequence' in item;

const FIRST: SequenceSlot = { sequence: 0, type: 0, laterType: 0 };
const SECOND: SequenceSlot = { sequence: 1, type: 1, laterType: 1 };

/** Texts without anything around them. */
export const NO_SPECIAL_TOKENS: EncodingTemplates = { single: [FIRST], pair: [FIRST, SECOND] };

interface TemplateItem {
  SpecialToken?: { id: string; type_id: number };
  Sequence?: { id: string; type_id: number };
}

export function encodingTemplates(config: Component | null | undefined): EncodingTemplates {
  switch (config?.type) {
    case 'TemplateProcessing':
      return { single: template(config, 'single'), pair: template(config, 'pair') };
    case 'BertProcessing':
      return bert(special(config['cls']), special(config['sep']));
    case 'RobertaProcessing':
      return roberta(special(config['cls']), special(config['sep']));
    case 'Sequence':
      return (config['processors'] as Component[])
        .map(encodingTemplates)
        .filter(changes)
        .reduce(around, NO_SPECIAL_TOKENS);
    default:
      return NO_SPECIAL_TOKENS;
  }
}

/** The same with all in one segment: what models get whose tokenizer doesn't hand them segment numbers. */
export function inOneSegment({ single, pair }: EncodingTemplates): EncodingTemplates {
  const flat = (layout: EncodingTemplate): EncodingTemplate =>
    layout.map((item) => (isSequenceSlot(item) ? { ...item, type: 0, laterType: 0 } : { ...item, type: 0 }));
  return { single: flat(single), pair: flat(pair) };
}

/** Tokens that a layout adds. */
export const specialCount = (layout: EncodingTemplate): number =>
  layout.filter((item) => !isSequenceSlot(item)).length;

const special = (pair: unknown): SpecialToken => ({ id: (pair as [string, number])[1], type: 0 });

function bert(cls: SpecialToken, sep: SpecialToken): EncodingTemplates {
  const single = [cls, FIRST, sep];
  return { single, pair: [...single, SECOND, { ...sep, type: 1 }] };
}

/** Two end tokens between the texts, and one segment. */
function roberta(cls: SpecialToken, sep: SpecialToken): EncodingTemplates {
  const single = [cls, FIRST, sep];
  return { single, pair: [...single, sep, { sequence: 1, type: 0, laterType: 0 }, sep] };
}

const changes = (layouts: EncodingTemplates): boolean => layouts !== NO_SPECIAL_TOKENS;

/** A processor after another one: what it puts before and after the texts goes outside. */
function around(inner: EncodingTemplates, outer: EncodingTemplates): EncodingTemplates {
  if (inner === NO_SPECIAL_TOKENS) return outer;
  return { single: wrapped(inner.single, outer.single), pair: wrapped(inner.pair, outer.pair) };
}

function wrapped(inner: EncodingTemplate, outer: EncodingTemplate): EncodingTemplate {
  return [
    ...outer.slice(0, outer.findIndex(isSequenceSlot)),
    ...inner,
    ...outer.slice(outer.findLastIndex(isSequenceSlot) + 1),
  ];
}

function template(config: Component, name: 'single' | 'pair'): EncodingTemplate {
  const known = (config['special_tokens'] ?? {}) as Record<string, { ids: number[] }>;
  return ((config[name] ?? []) as TemplateItem[]).flatMap(
    ({ Sequence, SpecialToken }): (SpecialToken | SequenceSlot)[] => {
      if (Sequence) {
        const sequence = Sequence.id === 'A' ? 0 : 1;
        return [{ sequence, type: Sequence.type_id, laterType: sequence }];
      }
      const ids = SpecialToken ? (known[SpecialToken.id]?.ids ?? []) : [];
      return ids.map((id) => ({ id, type: SpecialToken!.type_id }));
    },
  );
}
