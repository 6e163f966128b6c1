import type { Component } from './tokenizer-json.js';

/** A token that the post-processor puts there. */
export interface Special {
  id: number;
  /** Segment number of the token. */
  type: number;
}

/** The place of a text's own tokens. */
export interface Place {
  /** 0: the first text, 1: the second. */
  sequence: 0 | 1;
  type: number;
  /** Segment number in all windows but the first one, which the Rust library forgets to set. */
  laterType: number;
}

export type Layout = readonly (Special | Place)[];

/** What `post_processor` of tokenizer.json makes of one text and of two. */
export interface Layouts {
  single: Layout;
  pair: Layout;
}

export const isPlace = (item: Special | Place): item is Place => 'sequence' in item;

const FIRST: Place = { sequence: 0, type: 0, laterType: 0 };
const SECOND: Place = { sequence: 1, type: 1, laterType: 1 };

/** Texts without anything around them. */
export const BARE: Layouts = { single: [FIRST], pair: [FIRST, SECOND] };

interface TemplateItem {
  SpecialToken?: { id: string; type_id: number };
  Sequence?: { id: string; type_id: number };
}

export function layoutsOf(config: Component | null | undefined): Layouts {
  switch (config?.type) {
    case 'TemplateProcessing':
      return { single: template(config, 'single'), pair: template(config, 'pair') };
    case 'BertProcessing':
      return bert(special(config['cls']), special(config['sep']));
    case 'RobertaProcessing':
      return roberta(special(config['cls']), special(config['sep']));
    case 'Sequence':
      return (config['processors'] as Component[]).map(layoutsOf).filter(changes).reduce(around, BARE);
    default:
      return BARE;
  }
}

/** The same with all in one segment: what models get whose tokenizer doesn't hand them segment numbers. */
export function inOneSegment({ single, pair }: Layouts): Layouts {
  const flat = (layout: Layout): Layout =>
    layout.map((item) => (isPlace(item) ? { ...item, type: 0, laterType: 0 } : { ...item, type: 0 }));
  return { single: flat(single), pair: flat(pair) };
}

/** Tokens that a layout adds. */
export const specialCount = (layout: Layout): number => layout.filter((item) => !isPlace(item)).length;

const special = (pair: unknown): Special => ({ id: (pair as [string, number])[1], type: 0 });

function bert(cls: Special, sep: Special): Layouts {
  const single = [cls, FIRST, sep];
  return { single, pair: [...single, SECOND, { ...sep, type: 1 }] };
}

/** Two end tokens between the texts, and one segment. */
function roberta(cls: Special, sep: Special): Layouts {
  const single = [cls, FIRST, sep];
  return { single, pair: [...single, sep, { sequence: 1, type: 0, laterType: 0 }, sep] };
}

const changes = (layouts: Layouts): boolean => layouts !== BARE;

/** A processor after another one: what it puts before and after the texts goes outside. */
function around(inner: Layouts, outer: Layouts): Layouts {
  if (inner === BARE) return outer;
  return { single: wrapped(inner.single, outer.single), pair: wrapped(inner.pair, outer.pair) };
}

function wrapped(inner: Layout, outer: Layout): Layout {
  return [
    ...outer.slice(0, outer.findIndex(isPlace)),
    ...inner,
    ...outer.slice(outer.findLastIndex(isPlace) + 1),
  ];
}

function template(config: Component, name: 'single' | 'pair'): Layout {
  const known = (config['special_tokens'] ?? {}) as Record<string, { ids: number[] }>;
  return ((config[name] ?? []) as TemplateItem[]).flatMap(
    ({ Sequence, SpecialToken }): (Special | Place)[] => {
      if (Sequence) {
        const sequence = Sequence.id === 'A' ? 0 : 1;
        return [{ sequence, type: Sequence.type_id, laterType: sequence }];
      }
      const ids = SpecialToken ? (known[SpecialToken.id]?.ids ?? []) : [];
      return ids.map((id) => ({ id, type: SpecialToken!.type_id }));
    },
  );
}
