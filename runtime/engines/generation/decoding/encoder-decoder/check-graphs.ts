import type { InferenceSession } from 'onnxruntime-node';
import { RunError } from '../../../../core/errors.js';
import { checkEmbeddings, EMBEDDINGS_INPUT } from '../embeddings/token-embedder.js';
import { CACHE_INPUT, presentName } from './cross-cache.js';
import type { DecoderGraphs } from './cross-decoding.js';

/** @throws RunError not_ready for a graph with inputs that nothing fills */
export function checkGraphInputs(session: InferenceSession, known: (name: string) => boolean): void {
  const unknown = session.inputNames.filter((name) => !known(name));
  if (unknown.length === 0) return;
  throw new RunError('not_ready', `the graph wants inputs that a text can't give: ${unknown.join(', ')}`);
}

const DECODER_INPUTS = new Set([
  ...[
    'input_ids',
    EMBEDDINGS_INPUT,
    'encoder_attention_mask',
    'encoder_hidden_states',
    'use_cache_branch',
    'attention_mask',
    'decoder_attention_mask',
  ],
]);

/** @throws RunError not_ready for decoders that can't be run with a cache */
export function checkDecoderGraphs({ first, next, embedder }: DecoderGraphs): void {
  for (const session of [first, next]) {
    checkEmbeddings(session, embedder);
    checkGraphInputs(session, (name) => DECODER_INPUTS.has(name) || CACHE_INPUT.test(name));
  }
  const cached = next.inputNames.filter((name) => CACHE_INPUT.test(name));
  const missing = cached.map(presentName).filter((name) => !first.outputNames.includes(name));
  if (cached.length === 0 || missing.length > 0 || !first.outputNames.includes('logits')) {
    throw new RunError(
      'not_ready',
      'the decoder has no key-value cache; export it with "text2text-generation-with-past"',
    );
  }
}
