import { printable } from '../../runtime/core/printable.js';
import type { ModelInfo } from '../../runtime/core/spec.js';
import { GraphError } from '../../runtime/graphs/errors.js';

/** A checkpoint that no graph can be written over since its matrices are packed in a way of PyTorch's own tools. */
export class QuantizedError extends GraphError {
  override name = 'QuantizedError';

  constructor(method: string, detail: string) {
    super(
      `its weights are quantised as ${method} (quantization_config), which graphs can't be written over: ${detail}`,
    );
  }
}

/** What config.json says the weights were quantised by; undefined where it says nothing. */
export function quantizationOf(settings: Readonly<Record<string, unknown>>): string | undefined {
  const inner = (settings['text_config'] ?? {}) as Record<string, unknown>;
  const found = settings['quantization_config'] ?? inner['quantization_config'];
  if (typeof found !== 'object' || found === null) return undefined;
  const method = (found as Record<string, unknown>)['quant_method'];
  return typeof method === 'string' ? method : 'an unnamed method';
}

const FROM = /^base_model:quantized:(.+)$/;

/** The way out: the repository that such weights were made of, packed here. */
export function unquantizedRemedy({ tags }: Pick<ModelInfo, 'tags'>): string {
  const base = tags.map((tag) => FROM.exec(tag)?.[1]).find((id) => id !== undefined);
  const which = base === undefined ? 'the repository that it was made of' : printable(base);
  return `build ${which} with --dtype q4 or q8, which packs matrices here`;
}
