import type { Handles, Head } from '../core/handles/index.js';
import type { LoadRequest } from '../core/load-request.js';

/** Opens what a head needs. Rejects with a RunError (`not_ready`) that says what is wrong with the model's files. */
type HeadLoader<H extends Head> = (request: LoadRequest) => Promise<Handles[H]>;

/** Head to its loader. Imported when first asked for, so that a text image needs no picture library. */
const LOADERS: { [H in Head]: () => Promise<HeadLoader<H>> } = {
  'sequence-classification': async () =>
    (await import('./encoders/text/sequence-classifier.js')).loadSequenceClassifier,
  'masked-lm': async () => (await import('./encoders/text/mask-filler.js')).loadMaskFiller,
  entailment: async () => (await import('./encoders/text/entailment-classifier.js')).loadEntailmentClassifier,
  'token-classification': async () =>
    (await import('./encoders/text/token-classifier.js')).loadTokenClassifier,
  'question-answering': async () =>
    (await import('./encoders/text/question-answerer.js')).loadQuestionAnswerer,
  'image-classification': async () =>
    (await import('./encoders/image/image-classifier.js')).loadImageClassifier,
  embedding: async () => (await import('./encoders/text/embedder/text-embedder.js')).loadTextEmbedder,
  'causal-lm': async () => (await import('./generation/text-generator.js')).loadTextGenerator,
  'seq2seq-lm': async () => (await import('./generation/seq2seq-generator.js')).loadSeq2SeqGenerator,
};

export async function loadHandle<H extends Head>(head: H, request: LoadRequest): Promise<Handles[H]> {
  const load = await LOADERS[head]();
  return load(request);
}
