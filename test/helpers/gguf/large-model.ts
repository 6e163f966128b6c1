import { ggmlTypeNamed } from '../../../runtime/gguf/blocks.js';
import { type TensorToWrite, writeGguf } from './write-gguf.js';

/** Sizes of a language model of Llama's form. */
export interface LargeModel {
  layers: number;
  width: number;
  inner: number;
  heads: number;
  keyHeads: number;
  vocabulary: number;
}

/** Llama 3.1 70B. */
export const LLAMA_70B: LargeModel = {
  ...{ layers: 80, width: 8192, inner: 28_672, heads: 64, keyHeads: 8, vocabulary: 128_256 },
};

/**
 * The header of a file of GGUF as llama.cpp's `Q4_K_M` of such a model has it, and the size of the whole file, of which the
 * rest is never written. Its vocabulary is made up: byte pairs put together of earlier ones.
 */
export function largeGguf(model: LargeModel): { head: Buffer; size: number } {
  const shapes = tensorsOf(model);
  let at = 0;
  const tensors: TensorToWrite[] = shapes.map(([name, shape, type]) => {
    const offset = at;
    at += bytesOf(shape, type);
    return { name, shape, type, offset, data: Buffer.alloc(0) };
  });
  const head = writeGguf({ metadata: metadataOf(model), tensors });
  return { head, size: head.length + at };
}

type Shape = readonly [name: string, shape: readonly number[], type: string];

function tensorsOf({ layers, width, inner, heads, keyHeads, vocabulary }: LargeModel): Shape[] {
  const keys = (width / heads) * keyHeads;
  const layer = (i: number): Shape[] => {
    // The recipe gives half of the values and of the last matrices more bits.
    const better = i < layers / 8 || i >= (7 * layers) / 8 || (i - Math.floor(layers / 8)) % 3 === 2;
    const mixed = better ? 'Q6_K' : 'Q4_K';
    const at = (part: string) => `blk.${i}.${part}.weight`;
    return [
      [at('attn_norm'), [width], 'F32'],
      [at('attn_q'), [width, width], 'Q4_K'],
      [at('attn_k'), [keys, width], 'Q4_K'],
      [at('attn_v'), [keys, width], mixed],
      [at('attn_output'), [width, width], 'Q4_K'],
      [at('ffn_norm'), [width], 'F32'],
      [at('ffn_gate'), [inner, width], 'Q4_K'],
      [at('ffn_up'), [inner, width], 'Q4_K'],
      [at('ffn_down'), [width, inner], mixed],
    ];
  };
  return [
    ['token_embd.weight', [vocabulary, width], 'Q4_K'],
    ...Array.from({ length: layers }, (_, i) => layer(i)).flat(),
    ['output_norm.weight', [width], 'F32'],
    ['output.weight', [vocabulary, width], 'Q6_K'],
  ];
}

function bytesOf(shape: readonly number[], type: string): number {
  const { numbers, bytes } = ggmlTypeNamed(type)!;
  return (shape.reduce((product, size) => product * size, 1) / numbers) * bytes;
}

function metadataOf({ layers, width, inner, heads, keyHeads, vocabulary }: LargeModel) {
  const { tokens, merges } = bytePairs(vocabulary);
  return {
    'general.architecture': 'llama',
    'general.name': 'Large',
    'general.file_type': 15,
    'llama.block_count': layers,
    'llama.context_length': 131_072,
    'llama.embedding_length': width,
    'llama.feed_forward_length': inner,
    'llama.attention.head_count': heads,
    'llama.attention.head_count_kv': keyHeads,
    'llama.attention.layer_norm_rms_epsilon': { type: 'f32', value: 1e-5 },
    'llama.rope.freq_base': { type: 'f32', value: 500_000 },
    'llama.vocab_size': vocabulary,
    'tokenizer.ggml.model': 'gpt2',
    'tokenizer.ggml.pre': 'llama-bpe',
    'tokenizer.ggml.tokens': { type: 'list', of: 'string', value: tokens },
    'tokenizer.ggml.token_type': { type: 'list', of: 'i32', value: tokens.map(() => 1) },
    'tokenizer.ggml.merges': { type: 'list', of: 'string', value: merges },
    'tokenizer.ggml.bos_token_id': 0,
    'tokenizer.ggml.eos_token_id': 1,
    'tokenizer.chat_template': '{% for m in messages %}{{ m.content }}{% endfor %}',
  } as const;
}

/** The letters that GPT-2 writes bytes with. */
function byteLetters(): string[] {
  const own = (byte: number) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(own(byte) ? byte : next++));
}

/** A vocabulary of bytes, and of tokens before with a byte behind them. */
function bytePairs(count: number): { tokens: string[]; merges: string[] } {
  const letters = byteLetters();
  const tokens = [...letters];
  const merges: string[] = [];
  for (let first = 0; tokens.length < count; first++) {
    for (const second of letters) {
      if (tokens.length === count) break;
      tokens.push(`${tokens[first]}${second}`);
      merges.push(`${tokens[first]} ${second}`);
    }
  }
  return { tokens, merges };
}
