import type { GraphWriter, Value } from '../writer/graph-writer.js';
import type { Tower } from './image-tower.js';

/** Language models of Gemma's kind that read images, and whose tokens see later ones in places. */

/** States of all patches, as the encoder ends: float32 [rows, patches, width]. */
export const seenBy = (g: GraphWriter, tower: Tower): Value =>
  tower.finish(g, tower.states(g, tower.layers).at(-1)!);
