import type { SequenceClassifier } from '../../core/handles.js';
import type { LoadRequest } from '../handle.js';
import { readJson } from '../model-folder.js';
import { toFloat32 } from '../session.js';
import { loadTokenizer } from '../text/tokenizer.js';
import { labelsOf, problemOf } from './labels.js';
import { longestInput, openTextEncoder, requireOutputs, tighter } from './text-encoder.js';

/** *ForSequenceClassification: logits [1, labels] over a whole text. */
export async function loadSequenceClassifier(request: LoadRequest): Promise<SequenceClassifier> {
  const [config, tokenizer, encoder] = await Promise.all([
    readJson(request.dir, 'config.json'),
    loadTokenizer(request.dir),
    openTextEncoder(request),
  ]);
  requireOutputs(encoder, 'logits');
  const limit = longestInput(tokenizer, config);
  const problem = problemOf(config);
  return {
    async classify(text, { maxLength } = {}) {
      const row = tokenizer.encode(text, { maxLength: tighter(limit, maxLength) });
      const logits = toFloat32((await encoder.forward(row))['logits']!);
      return { logits, labels: labelsOf(config, logits.length), problem };
    },
  };
}
