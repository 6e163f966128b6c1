/**
 * Working memory of networks that make images of noise. Measured on Stable Diffusion with half its channels at 512 x 512
 * pixels: docs/measurements.md. Used by `builder plan` and by the server's admission.
 */
type Json = Readonly<Record<string, unknown>>;

/** Cells of what a network reads, or pixels of what a decoder gives. */
interface Size {
  height: number;
  width: number;
}

const FLOAT = 4;
/** Fragmentation of the arena. */
const GAPS = 1.25;
/** Scores of attention and their softmax are in memory together. */
const SCORES = 2;
/** Tensors of a block that are in memory together, as wide as its output. */
const TENSORS = 4;

const numbers = (value: unknown): number[] =>
  (Array.isArray(value) ? value : [value]).filter((one): one is number => typeof one === 'number');

export interface UnetRun {
  rows: number;
  /** A graph of ours, whose kernel of attention holds a block of the scores at a time. */
  own: boolean;
}

/** Bytes of one run of a UNet, by its widest convolutions and its longest attention. */
export function unetBytes(config: Json, { height, width }: Size, { rows, own }: UnetRun): number {
  const channels = numbers(config['block_out_channels']);
  const blocks = Array.isArray(config['down_block_types']) ? config['down_block_types'].map(String) : [];
  const level = blocks.findIndex((name) => name.includes('Attn'));
  const cells = height * width;
  const attended = level < 0 || own ? 0 : Math.ceil(cells / 4 ** level);
  // The field's name is wrong in the networks that read texts: there it counts the heads.
  const given = numbers(config['num_attention_heads'] ?? config['attention_head_dim']);
  const each = given[Math.min(Math.max(level, 0), given.length - 1)] ?? 8;
  const reads = config['cross_attention_dim'] != null;
  const heads = reads ? each : Math.ceil((channels[Math.max(level, 0)] ?? 0) / each);
  return FLOAT * rows * (TENSORS * cells * (channels[0] ?? 0) + SCORES * heads * attended ** 2);
}

/** Tokens of a text beside an image's, as pipelines fill them up. */
const TEXT_TOKENS = 512;
/** Numbers of a token in a layer that are in memory together, in widths: what comes in, its four parts, and twice the inner layer. */
const WIDTHS = 16;

/** Bytes of one run of a transformer over patches and texts. @param patches of an image */
export function transformerBytes(config: Json, patches: number, rows: number): number {
  const [heads = 0] = numbers(config['num_attention_heads'] ?? 24);
  const [each = 0] = numbers(config['attention_head_dim'] ?? 128);
  return Math.round(GAPS * FLOAT * rows * (patches + TEXT_TOKENS) * WIDTHS * heads * each);
}

/**
 * Bytes of one run of a decoder: its last blocks have the size of the image. The first of them reads the channels of the
 * block before, of which there are the input, its norm and what the norm is made in, beside what comes out.
 */
export function decoderBytes(config: Json, { height, width }: Size): number {
  const [first = 0, second = first, ...rest] = numbers(config['block_out_channels']);
  const cells = (height * width) / 4 ** (rest.length + 1);
  const attention = config['mid_block_add_attention'] === false ? 0 : SCORES * cells ** 2;
  return Math.round(GAPS * FLOAT * Math.max(height * width * (first + 3 * second), attention));
}

/** A sample for the text, and one without it. */
const GUIDED = 2;
/** Pixels and samples of what is not known. */
const LARGEST_SIDE = 2 ** 14;

/** Latents of a side where the configuration of a transformer has none. */
const USUAL_SAMPLE = 128;

/** Bytes of an image of the usual size: a run of each network, whose sessions keep what they needed. */
export function usualNoiseBytes(unet: Json, decoder: Json, { rows, own }: UnetRun): number {
  const given = numbers(unet['sample_size']);
  const [height = 0, width = height] = given.map((side) => Math.min(LARGEST_SIDE, Math.max(0, side)));
  const factor = 2 ** Math.min(6, Math.max(0, numbers(decoder['block_out_channels']).length - 1));
  const image = { height: height * factor, width: width * factor };
  if (unet['joint_attention_dim'] != null) {
    const side = Math.min(LARGEST_SIDE, given[0] ?? USUAL_SAMPLE);
    const [edge = 2] = numbers(unet['patch_size']).filter((one) => one > 1);
    const run = transformerBytes(unet, (side / edge) ** 2, GUIDED * rows);
    return run + decoderBytes(decoder, { height: side * factor, width: side * factor });
  }
  return unetBytes(unet, { height, width }, { rows: GUIDED * rows, own }) + decoderBytes(decoder, image);
}
