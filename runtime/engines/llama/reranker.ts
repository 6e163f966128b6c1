import { RunError } from '../../core/errors.js';
import type { SequenceClassifier } from '../../core/handles/index.js';
import type { LoadRequest } from '../../core/load-request.js';
import { createPromptEncoder } from '../tokenizers/patient-tokenizer.js';
import { openModel } from './open-model.js';
import { createPooledRows } from './pooled-rows.js';
import { rememberModel } from './opened-models.js';

/** Tensors of heads that score; without one the scores would be those of another model. */
const HEAD = /^cls(?:\.output)?\.weight$/;

/** Rerankers and classifiers in GGUF. @throws RunError `not_ready` for a file without a head */
export async function loadLlamaReranker(request: LoadRequest): Promise<SequenceClassifier> {
  const opened = await openModel(request);
  const { model, file, tokenizer } = opened;
  if (!file.tensors.some(({ name }) => HEAD.test(name)))
    throw new RunError(
      'not_ready',
      'the file has no head that scores (cls.weight): llama.cpp would give scores of another model; take the repository ' +
        'that it was made of, or a file of a reranker',
    );
  const rows = await createPooledRows(opened, 'rank', request.threads);
  rememberModel(request.dir, opened, { template: undefined, maxLength: rows.longest });
  const encode = createPromptEncoder(tokenizer, tokenizer.encodeAside);
  const labels = labelsOf(opened.file.metadata, model.classes);
  return {
    async classify(text, { pair, maxLength, truncation, specialTokens, padded, signal } = {}) {
      if (padded) throw new RunError('unprocessable', 'params.padding: llama.cpp takes no padding');
      const longest = Math.min(rows.longest, maxLength ?? rows.longest);
      const ids = await encode(text, { pair, truncation, specialTokens, maxLength: longest }, signal);
      const logits = Float32Array.from(await rows.vector(ids, signal));
      return { logits, labels, problem: labels.length === 1 ? 'multi_label' : 'single_label' };
    },
  };
}

function labelsOf(metadata: ReadonlyMap<string, unknown>, count: number): string[] {
  const architecture = String(metadata.get('general.architecture'));
  const named = metadata.get(`${architecture}.classifier.output_labels`);
  const list = Array.isArray(named) ? named.map(String) : [];
  return Array.from({ length: count }, (_, i) => list[i] ?? `LABEL_${i}`);
}
