import { RunError } from '../core/errors.js';
import type { Handles, Head } from '../core/handles/index.js';
import type { LoadRequest } from '../core/load-request.js';
import { engineOf } from '../core/engines.js';
import type { LayerPlacement } from '../core/placement.js';
import type { EngineId } from '../core/spec.js';
import { withReaders } from './repository/named-readers.js';
import type { AnswerTokenizer } from './chat-templates/answer-tokenizer.js';

/** Opens what a head needs. Rejects with a RunError (`not_ready`) that says what is wrong with the model's files. */
type HeadLoader<H extends Head> = (request: LoadRequest) => Promise<Handles[H]>;

type Loaders = { [H in Head]?: () => Promise<HeadLoader<H>> };

/** Engine and head to their loader. Imported when first asked for, so that a text image needs no image library. */
const LOADERS: Record<EngineId, Loaders> = {
  transformers: {
    'sequence-classification': async () =>
      (await import('./encoders/text/sequence-classifier.js')).loadSequenceClassifier,
    'masked-lm': async () => (await import('./encoders/text/mask-filler.js')).loadMaskFiller,
    entailment: async () =>
      (await import('./encoders/text/entailment-classifier.js')).loadEntailmentClassifier,
    'token-classification': async () =>
      (await import('./encoders/text/token-classifier.js')).loadTokenClassifier,
    'question-answering': async () =>
      (await import('./encoders/text/question-answerer.js')).loadQuestionAnswerer,
    'audio-classification': async () =>
      (await import('./encoders/audio/audio-classifier.js')).loadAudioClassifier,
    'document-reading': async () => (await import('./encoders/text/document-reader.js')).loadDocumentReader,
    'video-classification': async () =>
      (await import('./encoders/video/video-classifier.js')).loadVideoClassifier,
    ctc: async () => (await import('./encoders/audio/ctc-recognizer.js')).loadCtcRecognizer,
    'image-classification': async () =>
      (await import('./encoders/image/image-classifier.js')).loadImageClassifier,
    'object-detection': async () => (await import('./encoders/image/object-detector.js')).loadObjectDetector,
    'image-features': async () =>
      (await import('./encoders/image/feature-extractor.js')).loadImageFeatureExtractor,
    'depth-estimation': async () => (await import('./encoders/image/depth-estimator.js')).loadDepthEstimator,
    'image-segmentation': async () =>
      (await import('./encoders/image/segments/image-segmenter.js')).loadImageSegmenter,
    'mask-generation': async () =>
      (await import('./encoders/image/masks/mask-generator.js')).loadMaskGenerator,
    'image-text-matching': async () =>
      (await import('./encoders/joint/image-text-matcher.js')).loadImageTextMatcher,
    'text-guided-detection': async () =>
      (await import('./encoders/joint/text-guided-detector.js')).loadTextGuidedDetector,
    'visual-question-answering': async () =>
      (await import('./encoders/joint/visual-question-answerer.js')).loadVisualQuestionAnswerer,
    embedding: async () => (await import('./encoders/text/embedder/text-embedder.js')).loadTextEmbedder,
  },
  generation: {
    'causal-lm': async () => (await import('./generation/text-generator.js')).loadTextGenerator,
    'image-to-text': async () => (await import('./generation/image-captioner.js')).loadImageCaptioner,
    'document-question-answering': async () =>
      (await import('./generation/document-question-answerer.js')).loadDocumentQuestionAnswerer,
    'visual-answer-writing': async () =>
      (await import('./generation/visual-answer-writer.js')).loadVisualAnswerWriter,
    'media-chat': async () => (await import('./generation/media-chat.js')).loadMediaChat,
    'speech-seq2seq': async () => (await import('./generation/speech-recognizer.js')).loadSpeechRecognizer,
    'seq2seq-lm': async () => (await import('./generation/seq2seq-generator.js')).loadSeq2SeqGenerator,
  },
  speech: {
    speech: async () => (await import('./speech/speech-synthesizer.js')).loadSpeechSynthesizer,
  },
  diffusion: {
    'text-to-image': async () => (await import('./diffusion/pipelines/text-to-image.js')).loadTextToImage,
    'unconditional-image': async () =>
      (await import('./diffusion/pipelines/unconditional.js')).loadUnconditional,
    'text-to-video': async () => (await import('./diffusion/pipelines/text-to-video.js')).loadTextToVideo,
  },
  llama: {
    'causal-lm': async () => (await import('./llama/text-generator.js')).loadLlamaTextGenerator,
    embedding: async () => (await import('./llama/text-embedder.js')).loadLlamaTextEmbedder,
    'sequence-classification': async () => (await import('./llama/reranker.js')).loadLlamaReranker,
  },
};

/** What answers requests to the tokenizer of an open model. */
export async function openTokenizer({ spec, dir }: LoadRequest): Promise<AnswerTokenizer> {
  if (engineOf(spec.engine).runtime === 'onnx')
    return (await import('./chat-templates/tokenizer-requests.js')).tokenizerOf(dir);
  return (await import('./llama/opened-models.js')).answerOpenedTokenizer(dir);
}

/** Where the layers of an open model are, of engines that place them. */
export async function placementOf({ spec, dir }: LoadRequest): Promise<LayerPlacement | undefined> {
  if (engineOf(spec.engine).runtime === 'onnx') return undefined;
  return (await import('./llama/opened-models.js')).openedPlacement(dir);
}

/** @throws RunError `not_ready` for a head that the engine of the request's spec does not have */
export async function loadHandle<H extends Head>(head: H, request: LoadRequest): Promise<Handles[H]> {
  const { engine } = request.spec;
  const load = await LOADERS[engine][head]?.();
  if (!load) throw new RunError('not_ready', `engine ${engine} has no head ${head} in this version`);
  return load(await withReaders(request));
}

/** Loads the code of a head ahead of `loadHandle`; nothing for names of none. */
export async function preloadHead(engine: string, head: Head | undefined): Promise<void> {
  if (head !== undefined) await (LOADERS as Partial<typeof LOADERS>)[engine as EngineId]?.[head]?.();
}

/** True where `loadHandle` has a loader. */
export function hasLoader(engine: EngineId, head: Head): boolean {
  return LOADERS[engine][head] !== undefined;
}
