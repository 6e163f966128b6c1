import { printable } from '../../runtime/core/printable.js';
import type { ModelInfo } from '../../runtime/core/spec.js';
import { GraphError } from '../../runtime/models/writer/errors.js';

/** A checkpoint that no graph can be written over since its matrices are packed in a way of PyTorch's own tools. */
export class QuantizedError extends GraphError {
  override name = 'QuantizedError';

  constructor(method: string, detail: string) {
    super(
      `its weights are quantised as ${method} (quantization_config), which graphs can't be written over: ${detail}`,
    );
  }
}

type Settings = Readonly<Record<string, unknown>>;

/** Where tools that quantise leave their settings beside config.json, which need not have them; and what they mean. */
const FILES = { 'quantize_config.json': 'gptq', 'quant_config.json': 'awq' } as const;

/**
 * config.json with the settings that a tool has left in a file of its own; the same one where it has some, or there are
 * none.
 */
export async function withQuantization(
  config: Settings,
  readFile: (path: string) => Promise<Settings | undefined>,
): Promise<Settings> {
  if (quantizationSettings(config)) return config;
  for (const [path, method] of Object.entries(FILES)) {
    const found = await readFile(path);
    if (found) return { ...config, quantization_config: { quant_method: method, ...found } };
  }
  return config;
}

/** What config.json says of how the weights were quantised; undefined where it says nothing. */
export function quantizationSettings(config: Settings): Settings | undefined {
  const inner = (config['text_config'] ?? {}) as Settings;
  const found = config['quantization_config'] ?? inner['quantization_config'];
  return typeof found === 'object' && found !== null ? (found as Settings) : undefined;
}

/** The method that config.json names; undefined where it says nothing. */
export function quantizationOf(config: Settings): string | undefined {
  const settings = quantizationSettings(config);
  if (!settings) return undefined;
  const method = settings['quant_method'];
  return typeof method === 'string' ? method : 'an unnamed method';
}

const FROM = /^base_model:quantized:(.+)$/;

/** The way out: the repository that such weights were made of, packed here. */
export function unquantizedRemedy({ tags }: Pick<ModelInfo, 'tags'>): string {
  const base = tags.map((tag) => FROM.exec(tag)?.[1]).find((id) => id !== undefined);
  const which = base === undefined ? 'the repository that it was made of' : printable(base);
  return `build ${which} with --dtype q4 or q8, which packs matrices here`;
}
