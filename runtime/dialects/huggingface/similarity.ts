import * as z from 'zod';
import { readFields } from '../fields.js';
import { cosine } from '../vectors.js';

const similarityInputs = z.object({
  source_sentence: z.string(),
  sentences: z.array(z.string()).min(1).max(1024),
});

/** Whether the inputs ask how alike sentences are, instead of for their vectors. */
export function asksSimilarity(inputs: unknown): boolean {
  return typeof inputs === 'object' && inputs !== null && 'source_sentence' in inputs;
}

/** The texts to embed: the source first. @throws RunError 400 that names the field */
export function sentencesOf(inputs: unknown): string[] {
  const { source_sentence, sentences } = readFields(similarityInputs, inputs);
  return [source_sentence, ...sentences];
}

/** Cosine of the first vector with each of the others. */
export function similarities(vectors: readonly (readonly number[])[]): number[] {
  const [source, ...others] = vectors;
  return others.map((other) => cosine(source!, other));
}
