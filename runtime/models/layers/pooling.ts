import type { GraphWriter, Value } from '../writer/graph-writer.js';

/** The mean of each channel of an image: float32 [rows, channels, lines, columns] -> [rows, channels]. */
export const channelMeans = (g: GraphWriter, x: Value): Value =>
  g.node('Flatten', [g.node('GlobalAveragePool', [x])]);

/** The largest of each 3 x 3 about every second pixel, behind which ResNet and its relatives have their stages. */
export const halvedByLargest = (g: GraphWriter, x: Value): Value =>
  g.node('MaxPool', [x], { kernel_shape: [3, 3], strides: [2, 2], pads: [1, 1, 1, 1] });
