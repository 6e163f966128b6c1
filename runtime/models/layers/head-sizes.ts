import { GraphError } from '../writer/errors.js';

/** Width of a head. @throws GraphError where heads of one width don't make up the whole */
export function headWidth(width: number, heads: number): number {
  if (width % heads === 0) return width / heads;
  throw new GraphError(`config.json: a width of ${width} can't be parted into ${heads} heads`);
}

/** Channels of a group of a convolution. @throws GraphError where groups don't make up the whole */
export function groupWidth(width: number, groups: number): number {
  if (width % groups === 0) return width / groups;
  throw new GraphError(`config.json: ${width} channels can't be parted into ${groups} groups`);
}

/** Heads of queries that share one of keys. @throws GraphError where they don't share evenly */
export function headGroup(heads: number, keyHeads: number): number {
  if (heads % keyHeads === 0) return heads / keyHeads;
  throw new GraphError(`config.json: ${heads} heads of queries can't share ${keyHeads} heads of keys`);
}
