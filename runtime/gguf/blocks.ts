/** A type of ggml: so many numbers are stored in so many bytes. */
export interface GgmlType {
  name: string;
  /** Numbers of a block, which lie in one row. */
  numbers: number;
  /** Bytes of a block. */
  bytes: number;
}

/** By the number that headers have for it. Source: ggml_type and its type traits in ggml. */
const TYPES: ReadonlyMap<number, GgmlType> = new Map(
  (
    [
      [0, 'F32', 1, 4],
      [1, 'F16', 1, 2],
      [2, 'Q4_0', 32, 18],
      [3, 'Q4_1', 32, 20],
      [6, 'Q5_0', 32, 22],
      [7, 'Q5_1', 32, 24],
      [8, 'Q8_0', 32, 34],
      [9, 'Q8_1', 32, 36],
      [10, 'Q2_K', 256, 84],
      [11, 'Q3_K', 256, 110],
      [12, 'Q4_K', 256, 144],
      [13, 'Q5_K', 256, 176],
      [14, 'Q6_K', 256, 210],
      [15, 'Q8_K', 256, 292],
      [16, 'IQ2_XXS', 256, 66],
      [17, 'IQ2_XS', 256, 74],
      [18, 'IQ3_XXS', 256, 98],
      [19, 'IQ1_S', 256, 50],
      [20, 'IQ4_NL', 32, 18],
      [21, 'IQ3_S', 256, 110],
      [22, 'IQ2_S', 256, 82],
      [23, 'IQ4_XS', 256, 136],
      [24, 'I8', 1, 1],
      [25, 'I16', 1, 2],
      [26, 'I32', 1, 4],
      [27, 'I64', 1, 8],
      [28, 'F64', 1, 8],
      [29, 'IQ1_M', 256, 56],
      [30, 'BF16', 1, 2],
      [34, 'TQ1_0', 256, 54],
      [35, 'TQ2_0', 256, 66],
      [39, 'MXFP4', 32, 17],
      [40, 'NVFP4', 64, 36],
    ] as const
  ).map(([number, name, numbers, bytes]) => [number, { name, numbers, bytes }]),
);

/** Types that ggml has taken back: files with them are of 2023 or 2024, and its own library refuses them, too. */
const FORMER: ReadonlyMap<number, string> = new Map([
  [4, 'Q4_2'],
  [5, 'Q4_3'],
  [31, 'Q4_0_4_4'],
  [32, 'Q4_0_4_8'],
  [33, 'Q4_0_8_8'],
  [36, 'IQ4_NL_4_4'],
  [37, 'IQ4_NL_4_8'],
  [38, 'IQ4_NL_8_8'],
]);

/** Undefined for a number that no type has. */
export const ggmlType = (number: number): GgmlType | undefined => TYPES.get(number);

/** The name of a type that was taken back. */
export const formerType = (number: number): string | undefined => FORMER.get(number);

const BY_NAME: ReadonlyMap<string, GgmlType & { number: number }> = new Map(
  [...TYPES].map(([number, type]) => [type.name, { ...type, number }]),
);

/** A type by its name. */
export const ggmlTypeNamed = (name: string): (GgmlType & { number: number }) | undefined => BY_NAME.get(name);
