import { join } from 'node:path';
import { RunError } from '../../../core/errors.js';
import type { ImageClassifier } from '../../../core/handles/index.js';
import type { LoadRequest } from '../../../core/load-request.js';
import { createImageProcessor } from '../../processors/image/image-processor.js';
import { readProcessorConfig } from '../../processors/image/processor-config.js';
import { readJson } from '../../repository/model-folder.js';
import { memoryRoom } from '../../sessions/memory-room.js';
import { openSession } from '../../sessions/session.js';
import { floats, toFloat32 } from '../../sessions/tensors.js';
import { createPictureLine } from '../../../media/picture-line.js';
import { labelsOf, problemOf } from '../../repository/labels.js';

/** *ForImageClassification: pixel_values [1, 3, h, w] -> logits [1, labels]. */
export async function loadImageClassifier(request: LoadRequest): Promise<ImageClassifier> {
  const [config, session] = await Promise.all([
    readJson(request.dir, 'config.json'),
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
  const processor = createImageProcessor(await readProcessorConfig(request.dir, config));
  const pictures = createPictureLine({ ...request, room: () => memoryRoom(request.memory) });
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
