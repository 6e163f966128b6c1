import * as z from 'zod';
import { printable } from '../../runtime/core/printable.js';
import { partOf } from '../../runtime/models/writer/packed-layout.js';
import {
  FLOATS_OF_A_SCALE,
  type QuantizedBlocks,
  type StoredTensor,
  type WeightIndex,
} from '../../runtime/weights/index.js';
import { QuantizedError, quantizationSettings } from './quantized.js';

const GPTQ = z.object({
  quant_method: z.literal('gptq'),
  bits: z.literal([4, 8]),
  group_size: z.int().min(-1),
  desc_act: z.boolean().default(false),
  // The newer format has zero points as they are.
  checkpoint_format: z.enum(['gptq', 'gptq_v2']).default('gptq'),
  is_marlin_format: z.literal(false).default(false),
  // Settings of single layers.
  dynamic: z.record(z.string(), z.never()).nullish(),
});

const AWQ = z.object({
  quant_method: z.literal('awq'),
  bits: z.literal(4).default(4),
  w_bit: z.literal(4).default(4),
  group_size: z.int().min(-1).optional(),
  q_group_size: z.int().min(-1).default(128),
  version: z.string().toLowerCase().pipe(z.literal('gemm')).default('gemm'),
});

interface Scheme extends Pick<QuantizedBlocks, 'layout' | 'bits' | 'zeroShift' | 'reordered'> {
  /** Columns of a group; all of them if -1. */
  group: number;
}

const PACKED = '.qweight';
const BLOCKS = '_blocks';
const WORDS = '.weight_packed';

interface QuantizedIndex {
  index: WeightIndex;
  method: string;
  /** Of the integers that products read. */
  bits: 4 | 8;
}

/**
 * The index with the matrices that another tool has packed under the names that they had before.
 * @returns undefined where there are none, or the tool is not known
 * @throws QuantizedError where they are packed in a way that products don't read
 */
export function quantizedIndex(
  index: WeightIndex,
  config: Readonly<Record<string, unknown>>,
): QuantizedIndex | undefined {
  const settings = quantizationSettings(config);
  const method = settings?.['quant_method'];
  if (method === 'mxfp4') return floatIndex(index);
  if (method === 'compressed-tensors') return rowIndex(index, settings!);
  return method === 'gptq' || method === 'awq' ? integerIndex(index, method, settings!) : undefined;
}

/** Of floats of four bits, as gpt-oss has its experts; their blocks and scales are tensors of their own. */
function floatIndex(index: WeightIndex): QuantizedIndex | undefined {
  const found = new Map(index);
  const names = [...index.keys()].filter((name) => name.endsWith(BLOCKS));
  for (const packed of names) {
    const name = packed.slice(0, -BLOCKS.length);
    const [tensor, scales] = [index.get(packed)!, index.get(`${name}_scales`)];
    const [count = 0, rows = 0, groups = 0, bytes] = tensor.shape;
    const fits =
      [tensor, scales].every((one) => one?.type === 'U8') &&
      tensor.shape.length === 4 &&
      bytes === FLOATS_OF_A_SCALE / 2 &&
      String(scales!.shape) === String([count, rows, groups]);
    if (!fits) throw new QuantizedError('mxfp4', `${printable(packed)} and its scales do not fit each other`);
    const shape = [count, rows, groups * FLOATS_OF_A_SCALE];
    found.set(name, { ...tensor, shape, blocks: { layout: 'mxfp4', scales: scales! } });
  }
  return names.length === 0 ? undefined : { index: found, method: 'mxfp4', bits: 4 };
}

const COMPRESSED = z.object({
  format: z.literal('pack-quantized'),
  config_groups: z.record(
    z.string(),
    z.object({
      // Activations are rounded, too.
      input_activations: z.null().optional(),
      output_activations: z.null().optional(),
      weights: z.object({
        num_bits: z.literal([4, 8]),
        type: z.literal('int').default('int'),
        symmetric: z.literal(true).default(true),
        strategy: z.enum(['group', 'channel']),
        group_size: z.int().min(1).nullish(),
        actorder: z.null().or(z.literal('static')).or(z.literal('weight')).optional(),
      }),
    }),
  ),
});

/** Of integers of four or eight bits, as compressed-tensors packs them: the layout that products read. */
function rowIndex(
  index: WeightIndex,
  settings: Readonly<Record<string, unknown>>,
): QuantizedIndex | undefined {
  const fail = (detail: string) => new QuantizedError('compressed-tensors', detail);
  const parsed = COMPRESSED.safeParse(settings);
  if (!parsed.success) throw fail(`${parsed.error.issues[0]!.path.join('.')} is of another kind`);
  const schemes = Object.values(parsed.data.config_groups).map(({ weights }) => weights);
  const bits = schemes[0]?.num_bits;
  if (bits === undefined || schemes.some((scheme) => scheme.num_bits !== bits))
    throw fail('config_groups are not of one width');
  const found = new Map(index);
  const names = [...index.keys()].filter((name) => name.endsWith(WORDS));
  for (const packed of names) {
    const name = packed.slice(0, -WORDS.length);
    const [tensor, scales] = [index.get(packed)!, index.get(`${name}.weight_scale`)];
    const [rows = 0, words = 0] = tensor.shape;
    const columns = (words * 32) / bits;
    const group = columns / (scales?.shape[1] ?? 0);
    const fits =
      tensor.type === 'I32' &&
      FLOATS.has(scales?.type ?? '') &&
      scales!.shape[0] === rows &&
      Number.isInteger(group) &&
      partOf(group) !== undefined &&
      !index.has(`${name}.weight_zero_point`) &&
      !index.has(`${name}.weight_g_idx`);
    if (!fits)
      throw fail(`${printable(packed)} and its scales do not fit each other, or it has more than them`);
    found.set(`${name}.weight`, {
      ...{ ...tensor, shape: [rows, columns] },
      blocks: { layout: 'rows', bits, group, scales: scales! },
    });
  }
  return names.length === 0 ? undefined : { index: found, method: 'compressed-tensors', bits };
}

/** Of integers of four or eight bits, as GPTQ and AWQ pack them. */
function integerIndex(
  index: WeightIndex,
  method: 'gptq' | 'awq',
  settings: Readonly<Record<string, unknown>>,
): QuantizedIndex | undefined {
  const names = [...index.keys()].filter((name) => name.endsWith(PACKED));
  if (names.length === 0) return undefined;
  const fail = (detail: string) => new QuantizedError(method, detail);
  const scheme = schemeOf(settings, fail);
  const found = new Map(index);
  for (const packed of names) {
    const name = packed.slice(0, -PACKED.length);
    const tensor = matrixOf(index, name, scheme);
    if (!tensor) throw fail(`${printable(packed)} and its qzeros and scales do not fit each other`);
    found.set(`${name}.weight`, tensor);
  }
  return { index: found, method, bits: scheme.bits };
}

const AWQ_SCHEME = { layout: 'awq', bits: 4, zeroShift: 0, reordered: false } as const;

function schemeOf(settings: Readonly<Record<string, unknown>>, fail: (detail: string) => Error): Scheme {
  const isGptq = settings['quant_method'] === 'gptq';
  const parsed = (isGptq ? GPTQ : AWQ).safeParse(settings);
  if (!parsed.success) {
    const [key = ''] = parsed.error.issues[0]!.path;
    const value = JSON.stringify(settings[String(key)]) ?? 'missing';
    throw fail(`${String(key)} is ${printable(value.slice(0, 40))}`);
  }
  const { data } = parsed;
  if (data.quant_method === 'awq') return { ...AWQ_SCHEME, group: data.group_size ?? data.q_group_size };
  const zeroShift = data.checkpoint_format === 'gptq' ? 1 : 0;
  const { bits, desc_act: reordered, group_size: group } = data;
  return { layout: 'gptq', bits, zeroShift, group, reordered };
}

const FLOATS = new Set(['F32', 'F16', 'BF16']);

/** Undefined where types or shapes are others than the scheme has. */
function matrixOf(index: WeightIndex, name: string, scheme: Scheme): StoredTensor | undefined {
  const [tensor, scales, zeros] = ['qweight', 'scales', 'qzeros'].map((part) => index.get(`${name}.${part}`));
  if (!tensor || !scales || !zeros || tensor.shape.length !== 2) return undefined;
  const [first, second] = tensor.shape as [number, number];
  const each = 32 / scheme.bits;
  const [rows, columns] = scheme.layout === 'gptq' ? [second, first * each] : [second * each, first];
  const group = scheme.group === -1 ? columns : scheme.group;
  const sized = ({ shape }: StoredTensor, ...sizes: number[]) => String(shape) === String(sizes);
  const groups = columns / group;
  const groupOf = index.get(`${name}.g_idx`);
  const fits =
    [tensor, zeros, groupOf ?? zeros].every(({ type }) => type === 'I32') &&
    FLOATS.has(scales.type) &&
    rows % each === 0 &&
    Number.isInteger(groups) &&
    partOf(group) !== undefined &&
    sized(scales, groups, rows) &&
    sized(zeros, groups, rows / each) &&
    (groupOf ? sized(groupOf, columns) : !scheme.reordered);
  const { layout, bits, zeroShift, reordered } = scheme;
  return fits
    ? {
        ...tensor,
        shape: [rows, columns],
        blocks: { layout, bits, group, zeroShift, scales, zeros, groupOf, reordered },
      }
    : undefined;
}
