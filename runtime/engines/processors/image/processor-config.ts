import { RunError } from '../../../core/errors.js';
import type { LoadRequest } from '../../../core/load-request.js';
import type { ModelReaders } from '../../../core/readers.js';
import { readersIn } from '../../repository/named-readers.js';
import { type Json, readOptionalJson } from '../../repository/model-folder.js';
import { checkedProcessing } from '../check-processing.js';

/**
 * What the repository says about its image processor, with the class that Python would take where it names none (from model.json).
 * @param config config.json
 * @throws RunError `not_ready` where it says nothing, or what no class can take
 */
export async function readProcessorConfig(
  request: Pick<LoadRequest, 'dir' | 'spec'>,
  config: Json,
): Promise<Json> {
  // timm's repositories have their settings there.
  if (config['pretrained_cfg']) return { ...config, image_processor_type: 'TimmWrapperImageProcessor' };
  const processing = named(await readProcessing(request.dir), readersIn(request));
  return { ...processing, transformers_version: config['transformers_version'] };
}

function named(processing: Json, { processor = 'ViT' }: ModelReaders): Json {
  if (processing['image_processor_type'] ?? processing['feature_extractor_type']) return processing;
  return { ...processing, image_processor_type: `${processor}ImageProcessor` };
}

/** preprocessor_config.json, or the image part of the newer processor_config.json. */
async function readProcessing(dir: string): Promise<Record<string, unknown>> {
  const own = await readOptionalJson(dir, 'preprocessor_config.json');
  if (own) return checkedProcessing('preprocessor_config.json', own);
  const combined = await readOptionalJson(dir, 'processor_config.json');
  if (combined)
    return checkedProcessing('processor_config.json', (combined['image_processor'] ?? combined) as Json);
  throw new RunError('not_ready', 'the model has no preprocessor_config.json');
}
