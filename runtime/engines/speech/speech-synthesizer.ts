import { RunError } from '../../core/errors.js';
import type { SampleSynthesizer, SpeechSynthesizer } from '../../core/handles/index.js';
import type { LoadRequest } from '../../core/load-request.js';
import { encodeAudio } from '../../media/encode-audio.js';
import { type Json } from '../repository/model-folder.js';
import { readersIn } from '../repository/named-readers.js';
import { readModelConfig } from '../repository/model-config.js';
import { openMusicgen } from './musicgen/musicgen.js';
import { openSpeechT5 } from './speecht5/speecht5.js';
import { openVits } from './vits/vits.js';

type OpenSynthesizer = (request: LoadRequest, config: Json) => Promise<SampleSynthesizer>;

/** Names in model.json to what speaks so. */
const FAMILIES: Readonly<Record<string, OpenSynthesizer>> = {
  vits: openVits,
  musicgen: openMusicgen,
  speecht5: openSpeechT5,
};

/** Models that make audio clips of a text. @throws RunError `not_ready` for a family that is not known */
export async function loadSpeechSynthesizer(request: LoadRequest): Promise<SpeechSynthesizer> {
  const config = await readModelConfig(request.dir);
  const reader = readersIn(request).audio ?? '';
  const open = Object.hasOwn(FAMILIES, reader) ? FAMILIES[reader] : undefined;
  if (open) return { ...(await open(request, config)), encode: encodeAudio };
  throw new RunError(
    'not_ready',
    `model.json: readers.audio: this server has no voice "${reader}"; it has ${Object.keys(FAMILIES).join(', ')}`,
  );
}
