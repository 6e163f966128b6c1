import * as z from 'zod';
import { printable } from '../../runtime/core/printable.js';
import { partOf } from '../../runtime/graphs/storage.js';
import type { QuantizedBlocks, StoredTensor, WeightIndex } from '../../runtime/weights/index.js';
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

/**
 * The index with the matrices that GPTQ or AWQ have packed to four or eight bits under the names that they had before.
 * @returns undefined where there are none
 * @throws QuantizedError where they are packed in a way that products don't read
 */
export function quantizedIndex(
  index: WeightIndex,
  config: Readonly<Record<string, unknown>>,
): { index: WeightIndex; method: string; bits: 4 | 8 } | undefined {
  const settings = quantizationSettings(config);
  const method = settings?.['quant_method'];
  const names = [...index.keys()].filter((name) => name.endsWith(PACKED));
  if ((method !== 'gptq' && method !== 'awq') || names.length === 0) return undefined;
  const fail = (detail: string) => new QuantizedError(method, detail);
  const scheme = schemeOf(settings!, fail);
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
