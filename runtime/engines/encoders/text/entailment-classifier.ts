import { RunError } from '../../../core/errors.js';
import type { Entailment, EntailmentClassifier } from '../../../core/handles/index.js';
import type { LoadRequest } from '../../../core/load-request.js';
import type { Json } from '../../repository/model-folder.js';
import { toLogits } from '../../sessions/tensors.js';
import type { TokenizerFacts } from '../../tokenizers/patient-tokenizer.js';
import type { Encoding, TokenizedText } from '../../tokenizers/tokenizer.js';
import { mapInSlices } from '../../batching/row-slices.js';
import type { InputLimits } from './encoder/input-limits.js';
import { openTextModel } from './encoder/text-encoder.js';

/** *ForSequenceClassification trained on natural language inference: logits [1, labels] over two texts. */
export async function loadEntailmentClassifier(request: LoadRequest): Promise<EntailmentClassifier> {
  const { config, tokenizer, encoder, limits } = await openTextModel(request, 'logits');
  const pick = picker(config);
  return {
    async entail(premise, hypotheses, signal) {
      const tokens = await tokenizer.tokenize(premise, {}, signal);
      const found: Entailment[] = [];
      const judge = async (hypothesis: string) => {
        const row = pairOf(tokenizer, [tokens, await tokenizer.tokenize(hypothesis, {}, signal)], limits);
        return pick(toLogits((await encoder.forward(row, signal))['logits']!));
      };
      for await (const entailment of mapInSlices(hypotheses, judge)) found.push(entailment);
      return found;
    },
  };
}

/** Where the hypothesis alone fills the row, Python cuts nothing; that works as long as there are positions. */
function pairOf(
  tokenizer: TokenizerFacts,
  texts: [TokenizedText, TokenizedText],
  limits: InputLimits,
): Encoding {
  const { text: limit, positions } = limits;
  const room = limit - tokenizer.specialCount(2);
  const maxLength = texts[1].ids.length < room ? limit : undefined;
  const row = tokenizer.row(texts, { maxLength, truncation: 'only_first' });
  if (row.ids.length > positions) {
    throw new RunError(
      'unprocessable',
      `candidate_labels: a label has ${texts[1].ids.length} tokens, the model takes ${positions} in all`,
    );
  }
  return row;
}

/** Python's rule: the label that begins with "entail", else the last one; contradiction is at the other end. */
function picker(config: Json): (logits: Float32Array) => Entailment {
  const found = Object.entries(idsOf(config)).find(([label]) => label.toLowerCase().startsWith('entail'));
  const entailment = found ? Number(found[1]) : -1;
  const contradiction = entailment === 0 ? -1 : 0;
  return (logits) => {
    const pair = { entailment: logits.at(entailment), contradiction: logits.at(contradiction) };
    if (pair.entailment !== undefined && pair.contradiction !== undefined) return pair as Entailment;
    throw new RunError('engine_failed', `label2id: no label ${entailment} among ${logits.length}`);
  };
}

/** `label2id`, or `id2label` the other way round. */
function idsOf(config: Json): Record<string, unknown> {
  const ids = config['label2id'];
  if (typeof ids === 'object' && ids !== null) return ids as Record<string, unknown>;
  const labels = Object.entries((config['id2label'] ?? {}) as Record<string, unknown>);
  return Object.fromEntries(labels.map(([id, label]) => [String(label), id]));
}
