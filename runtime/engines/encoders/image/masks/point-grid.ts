import type { Edges } from '../../../processors/image/sizes.js';
import { longestEdge } from '../../../processors/image/sizes.js';

/**
 * Points in the middle of the cells of a square grid over the image, as the graph reads them: [points, 2], x before y, in
 * pixels of the resized image. x runs fastest.
 */
export function pointGrid(perSide: number, image: Edges, target: number): Float32Array {
  const resized = longestEdge(image, target);
  const points = new Float32Array(2 * perSide * perSide);
  for (let row = 0; row < perSide; row++) {
    for (let column = 0; column < perSide; column++) {
      const at = 2 * (row * perSide + column);
      const [x, y] = [(column + 0.5) / perSide, (row + 0.5) / perSide];
      points[at] = x * image.width * (resized.width / image.width);
      points[at + 1] = y * image.height * (resized.height / image.height);
    }
  }
  return points;
}
