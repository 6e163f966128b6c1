import * as z from 'zod';
import { defineFamily } from '../family.js';
import { parakeetAudio } from './parakeet.js';
import {
  isBlankToken,
  likeliest,
  NO_BLANK,
  NO_TIMES,
  type Pace,
  transducerFields,
  writeTransducer,
} from './parakeet-transducer.js';

const config = z
  .object({
    ...transducerFields,
    durations: z.array(z.int().min(0)).min(1).max(1000).default([0, 1, 2, 3, 4]),
  })
  .refine(isBlankToken, NO_BLANK)
  // Python takes the place of a duration for its length, whatever was trained.
  .refine((c) => c.durations.every((steps, i) => steps === i), {
    ...{ message: 'other than 0, 1, 2, … in turn are not known', path: ['durations'] },
  });

/** Tokens are scored with their durations; a blank takes a step at least. */
const told = (durations: number): Pace => ({
  scores: durations,
  states: 0,
  take(g, { isBlank, others }) {
    const duration = likeliest(g, others!);
    const isStill = g.node('And', [isBlank, g.node('Equal', [duration, g.scalar(0)])]);
    return { steps: g.node('Where', [isStill, g.scalar(1), duration]), states: [] };
  },
});

/** FastConformer and an LSTM over what has been written, which say together what comes next and how long it takes. modeling_parakeet.py */
export const parakeetTdt = defineFamily({
  modelTypes: ['parakeet_tdt'],
  readers: { extractor: 'Parakeet', audio: 'tdt' },
  memory: { audio: parakeetAudio },
  usualTask: 'automatic-speech-recognition',
  config,
  prefixes: [],
  heads: { ctc: { model: (g, c) => writeTransducer(g, c, told(c.durations.length)) } },
  limits: [NO_TIMES],
});
