import { join } from 'node:path';
import type { LoadRequest } from '../../../../core/load-request.js';
import { readProcessorConfig } from '../../../processors/image/processor-config.js';
import { type Json, readOptionalJson } from '../../../repository/model-folder.js';
import { checkedProcessing } from '../../../processors/check-processing.js';
import { readersIn } from '../../../repository/named-readers.js';
import { readExtractorConfig } from '../../../audio/audio-input.js';
import { loadTokenizer, type TextTokenizer } from '../../../tokenizers/tokenizer.js';
import { createMediaFamilies, type MediaFamilies, type MediumKind } from './families.js';

/** What the task is about decides which kinds there must be. */
const MAIN: Readonly<Record<string, MediumKind>> = {
  'audio-text-to-text': 'audio',
  'video-text-to-text': 'video',
};

/** How the media of a repository are read. @throws RunError as `createMediaFamilies` */
export async function readFamilies(
  request: LoadRequest,
  config: Json,
  tokenizer: TextTokenizer,
): Promise<MediaFamilies> {
  const { dir, spec } = request;
  const main = MAIN[spec.task] ?? 'image';
  const processing = main === 'audio' ? readExtractorConfig(dir) : readProcessorConfig(request, config);
  const [processor, video] = await Promise.all([
    readOptionalJson(dir, 'processor_config.json'),
    readOptionalJson(dir, 'video_preprocessor_config.json').then((settings) =>
      checkedProcessing('video_preprocessor_config.json', settings),
    ),
  ]);
  const own = await processing;
  const prompts = readersIn(request).prompts ?? {};
  const asks = prompts.image === 'instructblip';
  const questions = asks ? await loadTokenizer(join(dir, 'qformer_tokenizer')) : undefined;
  const files = {
    ...{ config, tokenizer, questions },
    ...{ processing: own, processor: processor ?? {}, video: video ?? own },
  };
  return createMediaFamilies(files, prompts, main);
}
