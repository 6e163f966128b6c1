import * as z from 'zod';
import { defineFamily } from '../family.js';
import { parakeetAudio } from './parakeet.js';
import {
  isBlankToken,
  NO_BLANK,
  NO_TIMES,
  type Pace,
  transducerFields,
  writeTransducer,
} from './parakeet-transducer.js';

const config = z.object(transducerFields).refine(isBlankToken, NO_BLANK);

/** A blank takes one step, any other token none, but so many at one step end it. */
const atMost = (tokens: number): Pace => ({
  scores: 0,
  states: 1,
  take(g, { isBlank }, [before]) {
    const more = g.node('Add', [before!, g.scalar(1)]);
    const isOver = g.node('Or', [isBlank, g.node('GreaterOrEqual', [more, g.scalar(tokens)])]);
    return {
      steps: g.node('Where', [isOver, g.scalar(1), g.scalar(0)]),
      states: [g.node('Where', [isOver, g.scalar(0), more])],
    };
  },
});

/** FastConformer and an LSTM over what has been written, which say together what comes next. modeling_parakeet.py */
export const parakeetRnnt = defineFamily({
  modelTypes: ['parakeet_rnnt'],
  readers: { extractor: 'Parakeet', audio: 'transducer' },
  memory: { audio: parakeetAudio },
  usualTask: 'automatic-speech-recognition',
  config,
  prefixes: [],
  heads: { ctc: { model: (g, c) => writeTransducer(g, c, atMost(c.max_symbols_per_step)) } },
  limits: [NO_TIMES],
});
