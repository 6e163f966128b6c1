import { Refusal } from './refusal.js';

/** Of a repository that transformers' exporter wrote in a way that can't be served. */
export const EXPORT_AGAIN =
  'export it again: OnnxExporter with OnnxConfig(dynamic=True), of float32; decoders by export_for_generation with multi_token_decode=True';

/** Sizes that differ from text to text: which axis of an input, by its name. */
const FREE_AXES: readonly (readonly [name: RegExp, axis: number])[] = [
  [/^(?:input_ids|inputs_embeds|attention_mask|position_ids|token_type_ids|input_values)$/, 1],
  [/\.(?:keys|values)$/, 2],
];

/** Of a decoder's step, which takes one token at a time. */
const STEP_INPUTS = /^(?:input_ids|inputs_embeds|position_ids)$/;

export interface GraphInput {
  name: string;
  shape: readonly (number | undefined)[];
}

/**
 * The exporter's default bakes every size into a graph: it would answer for one batch and one length only.
 * @throws Refusal for a graph with such sizes, or with a state whose size it does not say
 */
export function requireFreeSizes(id: string, path: string, inputs: readonly GraphInput[]): void {
  const isStep = inputs.some(({ name }) => name.includes('cache.layers.'));
  const baked = inputs.filter((input) => isBaked(input, isStep));
  if (baked.length > 0) {
    const sizes = baked
      .slice(0, 3)
      .map(({ name, shape }) => `${name} [${shape.map((size) => size ?? 'any').join(', ')}]`);
    const more = baked.length > sizes.length ? ' and others' : '';
    throw new Refusal(
      `${path} of ${id} was exported for one size only: ${sizes.join(', ')}${more}`,
      EXPORT_AGAIN,
    );
  }
  const unknown = inputs.find(
    ({ name, shape }) => /_states\.\d+$/.test(name) && shape.slice(1).includes(undefined),
  );
  if (unknown)
    throw new Refusal(
      `${path} of ${id} does not say how large its state ${unknown.name} is`,
      'export it again with dynamic_shapes that free the first axis of states only, or take the repository of its PyTorch weights',
    );
}

function isBaked({ name, shape }: GraphInput, isStep: boolean): boolean {
  const [rows] = shape;
  if (rows !== undefined && rows !== 1) return true;
  return FREE_AXES.some(([pattern, axis]) => {
    const size = pattern.test(name) ? shape[axis] : undefined;
    return size !== undefined && !(size === 1 && isStep && STEP_INPUTS.test(name));
  });
}
