import { rmsNorm } from '../../layers/norm.js';
import type { GraphWriter, Value } from '../../writer/graph-writer.js';
import type { Config } from './config.js';

export const normed = (g: GraphWriter, x: Value, name: string, c: Config): Value =>
  rmsNorm(g, x, name, { width: c.hidden_size, epsilon: c.rms_norm_eps });

export const times = (g: GraphWriter, x: Value, factor: number): Value =>
  g.node('Mul', [x, g.scalar(factor)]);
