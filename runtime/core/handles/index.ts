/**
 * What a loaded model can do, by head. Engines implement these, task files call them; neither imports the other.
 * Handles live in the engine process. Every method may be called while another call is under way.
 */

import type { AudioClassifier } from './audio.js';
import type {
  DocumentQuestionAnswerer,
  ImageCaptioner,
  MediaChat,
  Seq2SeqGenerator,
  TextGenerator,
  VisualAnswerWriter,
} from './generation.js';
import type {
  ImageClassifier,
  MaskGenerator,
  ObjectDetector,
  ImageFeatureExtractor,
  DepthEstimator,
  ImageSegmenter,
} from './image.js';
import type { ImageTextMatcher, TextGuidedDetector, VisualQuestionAnswerer } from './joint.js';
import type {
  DocumentReader,
  EntailmentClassifier,
  MaskFiller,
  QuestionAnswerer,
  SequenceClassifier,
  TextEmbedder,
  TokenClassifier,
} from './text.js';
import type { ImageMaker, VideoOptions } from './diffusion.js';
import type { VideoClassifier } from './video.js';
import type { SpeechRecognizer } from './speech-recognition.js';
import type { SpeechSynthesizer } from './speech.js';

export type * from './audio.js';
export type * from './diffusion.js';
export type * from './generation.js';
export type * from './image.js';
export type * from './joint.js';
export type * from './scores.js';
export type * from './speech-recognition.js';
export type * from './speech.js';
export type * from './text.js';
export type * from './tokens.js';
export type * from './video.js';

/** Head name to the handle that loading it gives. */
export interface Handles {
  'sequence-classification': SequenceClassifier;
  'masked-lm': MaskFiller;
  entailment: EntailmentClassifier;
  'token-classification': TokenClassifier;
  'question-answering': QuestionAnswerer;
  'audio-classification': AudioClassifier;
  'document-reading': DocumentReader;
  'video-classification': VideoClassifier;
  ctc: SpeechRecognizer;
  speech: SpeechSynthesizer;
  'speech-seq2seq': SpeechRecognizer;
  'image-classification': ImageClassifier;
  'mask-generation': MaskGenerator;
  'image-to-text': ImageCaptioner;
  'document-question-answering': DocumentQuestionAnswerer;
  'image-segmentation': ImageSegmenter;
  'depth-estimation': DepthEstimator;
  'image-features': ImageFeatureExtractor;
  'object-detection': ObjectDetector;
  'image-text-matching': ImageTextMatcher;
  'text-guided-detection': TextGuidedDetector;
  'visual-question-answering': VisualQuestionAnswerer;
  'visual-answer-writing': VisualAnswerWriter;
  'media-chat': MediaChat;
  'text-to-image': ImageMaker;
  'unconditional-image': ImageMaker;
  'text-to-video': ImageMaker<VideoOptions>;
  embedding: TextEmbedder;
  'causal-lm': TextGenerator;
  'seq2seq-lm': Seq2SeqGenerator;
}

export type Head = keyof Handles;
