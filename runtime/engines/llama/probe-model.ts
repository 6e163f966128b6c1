/** Numbers of types in a GGUF file. */
const [UINT32, FLOAT32, STRING] = [4, 6, 8];
const F32 = 0;
const ALIGNMENT = 32;

const WIDTH = 64;
const VOCABULARY = 8;

/** Shapes as llama.cpp has them, the columns first. */
const TENSORS: Readonly<Record<string, readonly number[]>> = {
  'token_embd.weight': [WIDTH, VOCABULARY],
  'output_norm.weight': [WIDTH],
  'blk.0.attn_norm.weight': [WIDTH],
  'blk.0.attn_q.weight': [WIDTH, WIDTH],
  'blk.0.attn_k.weight': [WIDTH, WIDTH],
  'blk.0.attn_v.weight': [WIDTH, WIDTH],
  'blk.0.attn_output.weight': [WIDTH, WIDTH],
  'blk.0.ffn_norm.weight': [WIDTH],
  'blk.0.ffn_gate.weight': [WIDTH, WIDTH],
  'blk.0.ffn_up.weight': [WIDTH, WIDTH],
  'blk.0.ffn_down.weight': [WIDTH, WIDTH],
};

const METADATA: readonly (readonly [key: string, type: number, value: string | number])[] = [
  ['general.architecture', STRING, 'llama'],
  ['llama.block_count', UINT32, 1],
  ['llama.context_length', UINT32, 64],
  ['llama.embedding_length', UINT32, WIDTH],
  ['llama.feed_forward_length', UINT32, WIDTH],
  ['llama.attention.head_count', UINT32, 1],
  ['llama.attention.layer_norm_rms_epsilon', FLOAT32, 1e-5],
  ['llama.vocab_size', UINT32, VOCABULARY],
  ['tokenizer.ggml.model', STRING, 'none'],
];

/** A GGUF file of one layer of Llama whose weights are all a hundredth: enough to compute something on a device. */
export function probeModel(): Buffer {
  const names = Object.keys(TENSORS);
  const sizes = names.map((name) => 4 * TENSORS[name]!.reduce((a, b) => a * b, 1));
  const parts = [Buffer.from('GGUF'), number32(3), number64(names.length), number64(METADATA.length)];
  for (const [key, type, value] of METADATA) parts.push(text(key), number32(type), valueOf(type, value));
  let offset = 0;
  for (const [i, name] of names.entries()) {
    const shape = TENSORS[name]!;
    parts.push(text(name), number32(shape.length), ...shape.map(number64), number32(F32), number64(offset));
    offset += sizes[i]!;
  }
  const header = Buffer.concat(parts);
  const weights = new Float32Array(offset / 4).fill(0.01);
  const padding = Buffer.alloc((ALIGNMENT - (header.length % ALIGNMENT)) % ALIGNMENT);
  return Buffer.concat([header, padding, Buffer.from(weights.buffer)]);
}

function valueOf(type: number, value: string | number): Buffer {
  if (typeof value === 'string') return text(value);
  if (type === UINT32) return number32(value);
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}

function number32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function number64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([number64(bytes.length), bytes]);
}
