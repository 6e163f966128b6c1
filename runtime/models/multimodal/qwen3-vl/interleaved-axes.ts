import * as z from 'zod';
import { GraphError } from '../../writer/errors.js';

const sections = z.array(z.int().min(0).max(1024)).length(3);

/**
 * For each frequency the axis whose positions it turns by: height and width take every third one from the second and third on, time has
 * the others.
 * @param count of frequencies @param usual pairs of time, height and width where the file does not say
 * @throws GraphError where rope_scaling is not as Python reads it
 */
export function interleavedAxes(
  scaling: Readonly<Record<string, unknown>> | undefined,
  count: number,
  usual: readonly number[],
): number[] {
  const given = sections.safeParse(scaling?.['mrope_section'] ?? usual);
  if (!given.success)
    throw new GraphError('config.json: rope_scaling.mrope_section does not part frequencies in three');
  return Array.from({ length: count }, (_, i) => (i < given.data[i % 3]! * 3 ? i % 3 : 0));
}
