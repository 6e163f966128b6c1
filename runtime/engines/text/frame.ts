import type { Component } from './tokenizer-json.js';

interface Special {
  id: number;
  /** Segment number of the token. */
  type: number;
}

/** What the post-processor puts around a single text. */
export interface Frame {
  before: Special[];
  after: Special[];
  /** Segment number of the text's own tokens. */
  type: number;
}

export const NO_FRAME: Frame = { before: [], after: [], type: 0 };

interface TemplateItem {
  SpecialToken?: { id: string; type_id: number };
  Sequence?: { id: string; type_id: number };
}

/** The frame of a single text that `post_processor` of tokenizer.json describes. */
export function frameOf(config: Component | null | undefined): Frame {
  switch (config?.type) {
    case 'TemplateProcessing':
      return templateFrame(config);
    case 'BertProcessing':
    case 'RobertaProcessing':
      return { before: [special(config['cls'])], after: [special(config['sep'])], type: 0 };
    case 'Sequence':
      return (config['processors'] as Component[]).map(frameOf).reduce(around);
    default:
      return NO_FRAME;
  }
}

const special = (pair: unknown): Special => ({ id: (pair as [string, number])[1], type: 0 });

function around(inner: Frame, outer: Frame): Frame {
  return {
    before: [...outer.before, ...inner.before],
    after: [...inner.after, ...outer.after],
    type: outer.type || inner.type,
  };
}

function templateFrame(config: Component): Frame {
  const frame: Frame = { before: [], after: [], type: 0 };
  const known = (config['special_tokens'] ?? {}) as Record<string, { ids: number[] }>;
  let into = frame.before;
  for (const item of config['single'] as TemplateItem[]) {
    if (item.Sequence) {
      frame.type = item.Sequence.type_id;
      into = frame.after;
    } else if (item.SpecialToken) {
      const { id, type_id } = item.SpecialToken;
      for (const token of known[id]?.ids ?? []) into.push({ id: token, type: type_id });
    }
  }
  return frame;
}
