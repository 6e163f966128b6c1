import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { architectureOf, ggufOfModel } from '../../helpers/gguf/from-model.js';
import type { GgufToWrite } from '../../helpers/gguf/write-gguf.js';
import { readCheckpoint } from './checkpoint.js';
import { vocabularyKeys } from './vocabulary.js';

type Json = Record<string, unknown>;

/** A folder of transformers as llama.cpp's converter writes it: one file, its tokenizer inside. */
export function convertToGguf(folder: string, type: string, more: GgufToWrite['metadata'] = {}): Buffer {
  const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as Json;
  const width = Number(
    config['head_dim'] ?? Number(config['hidden_size']) / Number(config['num_attention_heads']),
  );
  const architecture = architectureOf(String(config['model_type']));
  const rotated = width * Number(config['partial_rotary_factor'] ?? 1);
  const tensors = new Map(
    [...readCheckpoint(folder)].filter(([name]) => !/^pooler\.|position_ids$/.test(name)),
  );
  return ggufOfModel({
    ...{ config, tensors, type },
    metadata: {
      [`${architecture}.attention.key_length`]: width,
      [`${architecture}.attention.value_length`]: width,
      [`${architecture}.rope.dimension_count`]: rotated,
      ...(existsSync(join(folder, 'tokenizer.json')) ? vocabularyKeys(folder, config) : {}),
      ...more,
    },
  });
}
