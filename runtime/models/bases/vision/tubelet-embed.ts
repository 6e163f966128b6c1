import { convolution } from '../../layers/convolution.js';
import { type Edges, tokensOf } from '../../layers/patch-embed.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import { gridSize } from './vit-config.js';

export interface Video {
  num_frames: number;
  num_channels: number;
  image_size: Edges;
}

/** Declares `pixel_values` of clips: float32 [rows, frames, channels, height, width]. */
export function videoInput(g: GraphWriter, { num_frames, num_channels, image_size }: Video): Value {
  return g.input('pixel_values', 'float32', ['rows', num_frames, num_channels, ...image_size]);
}

export interface TubeletSize extends Video {
  width: number;
  /** Frames, height and width of a patch. */
  tubelet: readonly [frames: number, height: number, width: number];
}

/** Patches of a few frames each, and how many there are: float32 [rows, patches, width]. */
export function tubelets(
  g: GraphWriter,
  name: string,
  { width, tubelet, ...video }: TubeletSize,
): { tokens: Value; count: number } {
  const channelsBefore = g.node('Transpose', [videoInput(g, video)], { perm: [0, 2, 1, 3, 4] });
  const size = { from: video.num_channels, to: width, kernel: tubelet, stride: tubelet };
  const found = convolution(g, channelsBefore, name, size);
  const [frames, ...patch] = tubelet;
  const [lines, columns] = gridSize(video.image_size, patch);
  return { tokens: tokensOf(g, found), count: Math.floor(video.num_frames / frames) * lines * columns };
}
