import { join } from 'node:path';
import { RunError } from '../../../core/errors.js';
import type { ImageClassifier } from '../../../core/handles/index.js';
import { createImageProcessor } from '../../processors/image/image-processor.js';
import type { LoadRequest } from '../../loader.js';
import { type Json, readJson, readOptionalJson } from '../../repository/model-folder.js';
import { floats, openSession, toFloat32 } from '../../sessions/session.js';
import { createPictureLine } from '../../../media/picture-line.js';
import { labelsOf, problemOf } from '../../repository/labels.js';

/** *ForImageClassification: pixel_values [1, 3, h, w] -> logits [1, labels]. */
export async function loadImageClassifier(request: LoadRequest): Promise<ImageClassifier> {
  const [config, processing, session] = await Promise.all([
    readJson(request.dir, 'config.json'),
    readProcessing(request.dir),
    openSession(join(request.dir, request.spec.graphs['model']!), { ...request, arena: true }),
  ]);
  const input = session.inputNames.find((name) => name === 'pixel_values');
  if (!input || session.inputNames.length > 1 || !session.outputNames.includes('logits')) {
    throw new RunError(
      'not_ready',
      `the graph takes ${session.inputNames.join(', ')} and gives ${session.outputNames.join(', ')}; an image ` +
        'classifier takes pixel_values and gives logits',
    );
  }
  const processor = createImageProcessor(named(processing, config));
  const pictures = createPictureLine(request);
  // Image pipelines have no raw mode for regression heads: one label is a sigmoid (ImageClassificationPipeline).
  const problem = problemOf(config) === 'multi_label' ? 'multi_label' : 'single_label';
  return {
    async classify(bytes, signal) {
      const { values, height, width } = await pictures.read(bytes, processor.process, signal);
      signal.throwIfAborted();
      const outputs = await session.run({ [input]: floats(values, [1, 3, height, width]) });
      pictures.hasRun();
      const logits = toFloat32(outputs['logits']!);
      return { logits, labels: labelsOf(config, logits.length), problem };
    },
  };
}

/** Python's choice of a processor for files that name none; model types that are not here use ViT's. */
const PROCESSORS: Record<string, string[]> = {
  ConvNext: ['convnext', 'convnextv2', 'resnet', 'regnet', 'van', 'cvt'],
  Bit: ['bit', 'dinov2', 'dinov2_with_registers', 'hiera', 'focalnet'],
  Beit: ['beit', 'data2vec-vision'],
  MobileViT: ['mobilevit', 'mobilevitv2'],
  MobileNetV1: ['mobilenet_v1'],
  MobileNetV2: ['mobilenet_v2'],
  CLIP: ['clip'],
  DeiT: ['deit'],
  EfficientNet: ['efficientnet'],
  EfficientFormer: ['efficientformer'],
  Levit: ['levit'],
  PoolFormer: ['poolformer'],
  Pvt: ['pvt', 'pvt_v2'],
  Segformer: ['segformer'],
  Siglip: ['siglip'],
  ViTHybrid: ['vit_hybrid'],
};

function named(processing: Json, config: Json): Json {
  if (processing['image_processor_type'] ?? processing['feature_extractor_type']) return processing;
  const type = String(config['model_type']);
  const found = Object.keys(PROCESSORS).find((name) => PROCESSORS[name]!.includes(type));
  return { ...processing, image_processor_type: `${found ?? 'ViT'}ImageProcessor` };
}

/** preprocessor_config.json, or the image part of the newer processor_config.json. */
async function readProcessing(dir: string): Promise<Record<string, unknown>> {
  const own = await readOptionalJson(dir, 'preprocessor_config.json');
  if (own) return own;
  const combined = await readOptionalJson(dir, 'processor_config.json');
  if (combined) return (combined['image_processor'] ?? combined) as Record<string, unknown>;
  throw new RunError('not_ready', 'the model has no preprocessor_config.json');
}
