import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A new folder with these files; gone when the whole run ends. */
export function folderWith(files: Record<string, string | Uint8Array> = {}): string {
  const dir = mkdtempSync(join(tmpdir(), 'slipway-test-'));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), content);
  }
  return dir;
}

export const CONFIG = JSON.stringify({
  architectures: ['BertForSequenceClassification'],
  model_type: 'bert',
});

/** Content of a small model whose one graph is large enough to be sent in many pieces. */
export function modelFiles(bytes = 3_000_000): Record<string, string | Uint8Array> {
  return {
    'config.json': CONFIG,
    'tokenizer.json': '{"version":"1.0"}',
    'onnx/model.onnx': randomBytes(bytes),
  };
}
