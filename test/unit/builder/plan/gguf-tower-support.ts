import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { planModel } from '../../../../builder/plan/index.js';
import { folderSource } from '../../../../runtime/store/folder.js';
import type { GgufParts, Value } from '../../../helpers/gguf/rewrite-gguf.js';

export const ZOO = join(import.meta.dirname, '../../../fixtures/zoo-gguf/image-text-to-text');
export const GEMMA = { text: 'gemma3/repo/gemma3-F32.gguf', tower: 'gemma3/repo/mmproj-gemma3-F32.gguf' };
export const IDEFICS = {
  text: 'idefics3/repo/idefics3-F16.gguf',
  tower: 'idefics3/repo/mmproj-idefics3-F16.gguf',
};

export const QWEN = {
  text: 'qwen2_5_vl/repo/qwen2_5_vl-F32.gguf',
  tower: 'qwen2_5_vl/repo/mmproj-qwen2_5_vl-F32.gguf',
};

export const QWEN3 = {
  text: 'qwen3-vl/repo/qwen3-vl-F32.gguf',
  tower: 'qwen3-vl/repo/mmproj-qwen3-vl-F16.gguf',
};
export const MISTRAL = {
  text: 'mistral3/repo/mistral3-F32.gguf',
  tower: 'mistral3/repo/mmproj-mistral3-F16.gguf',
};
export const PIXTRAL = {
  text: 'pixtral/repo/pixtral-F16.gguf',
  tower: 'pixtral/repo/mmproj-pixtral-F32.gguf',
};

const AUDIO = '../audio-text-to-text';
export const VOXTRAL = {
  text: `${AUDIO}/voxtral/repo/voxtral-F32.gguf`,
  tower: `${AUDIO}/voxtral/repo/mmproj-voxtral-F16.gguf`,
};
export const QWEN_AUDIO = {
  text: `${AUDIO}/qwen2-audio/repo/qwen2-audio-F32.gguf`,
  tower: `${AUDIO}/qwen2-audio/repo/mmproj-qwen2-audio-F32.gguf`,
};

export type Files = Record<string, Buffer | string>;

export function folderOf(files: Files): string {
  const dir = mkdtempSync(join(tmpdir(), 'towers-'));
  mkdirSync(dir, { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(dir, name), content);
  return dir;
}

export const read = (path: string) => readFileSync(join(ZOO, path));
export const plan = (
  files: Files,
  options: { task?: string; file?: string; mmproj?: string; engine?: 'llama' | 'own' } = {},
) => planModel({ source: folderSource(folderOf(files)), id: 'o/x', ...options });

export const IMAGES = 'image-text-to-text';
export const SOUNDS = 'audio-text-to-text';

export type Change = (parts: GgufParts) => void;

export const set =
  (key: string, value: Value): Change =>
  ({ metadata }) =>
    void (metadata[key] = value);
export const float = (value: number): Value => ({ type: 'f32', value });
export const floats = (...value: number[]): Value => ({ type: 'list', of: 'f32', value });
export const without =
  (key: string): Change =>
  ({ metadata }) =>
    void delete metadata[key];
export const shaped =
  (name: string, shape: number[]): Change =>
  ({ tensors }) => {
    const one = tensors.find((tensor) => tensor.name === name)!;
    Object.assign(one, { shape, data: Buffer.alloc(4 * shape.reduce((a, b) => a * b)), type: 'F32' });
  };

export const lacking =
  (name: string): Change =>
  (parts) =>
    (parts.tensors = parts.tensors.filter((tensor) => tensor.name !== name));
export const added =
  (name: string, shape: number[]): Change =>
  ({ tensors }) =>
    void tensors.push({ name, shape, type: 'F32', data: Buffer.alloc(4 * shape.reduce((a, b) => a * b)) });
