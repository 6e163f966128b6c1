import type { TensorLike, Tensors } from '../../sessions/tensors.js';
import { toFloat32, toLogits } from '../../sessions/tensors.js';

/** How logits follow from the embeddings of an image and of a text: scale times their dot product, plus bias. */
export interface LogitScale {
  scale: number;
  bias: number;
}

/** Largest error of a logit, as a share of the range of all of them. */
const TOLERANCE = 1e-4;

/**
 * Finds scale and bias by what a run gave for one image and several texts.
 * @returns undefined for graphs whose logits don't follow from their embeddings, or that don't give them
 */
export function findLogitScale(outputs: Tensors): LogitScale | undefined {
  const found = embeddingsOf(outputs);
  if (!found) return undefined;
  const { image, texts } = found;
  const logits = toLogits(outputs['logits_per_image']!);
  const products = texts.map((text) => dot(image, text));
  const [low, high] = [products.indexOf(Math.min(...products)), products.indexOf(Math.max(...products))];
  const range = logits[high]! - logits[low]!;
  const scale = range / (products[high]! - products[low]!);
  const bias = logits[low]! - scale * products[low]!;
  const isExact = products.every(
    (product, i) => Math.abs(scale * product + bias - logits[i]!) <= TOLERANCE * Math.abs(range),
  );
  return Number.isFinite(scale) && isExact ? { scale, bias } : undefined;
}

/** Embeddings of an image, and of each text. */
export function embeddingsOf(outputs: Tensors): { image: Float32Array; texts: Float32Array[] } | undefined {
  const [image, texts] = [outputs['image_embeds'], outputs['text_embeds']];
  if (!image || !texts) return undefined;
  return { image: toFloat32(image), texts: rowsOf(texts) };
}

function rowsOf(tensor: TensorLike): Float32Array[] {
  const width = tensor.dims.at(-1)!;
  const values = toFloat32(tensor);
  return Array.from({ length: values.length / width }, (_, i) => values.slice(i * width, (i + 1) * width));
}

export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}
