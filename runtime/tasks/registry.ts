import type { Head } from '../core/handles/index.js';
import type { EngineId } from '../core/spec.js';
import type { TaskId } from '../core/task-ids.js';
import audioClassification from './audio-classification.js';
import audioTextToText from './audio-text-to-text.js';
import automaticSpeechRecognition from './automatic-speech-recognition.js';
import chat from './chat.js';
import type { AnyTask } from './define.js';
import featureExtraction from './feature-extraction.js';
import fillMask from './fill-mask.js';
import imageClassification from './image-classification.js';
import maskGeneration from './mask-generation.js';
import objectDetection from './object-detection.js';
import imageFeatureExtraction from './image-feature-extraction.js';
import depthEstimation from './depth-estimation.js';
import imageSegmentation from './image-segmentation.js';
import imageTextToText from './image-text-to-text.js';
import imageToText from './image-to-text.js';
import documentQuestionAnswering from './document-question-answering.js';
import questionAnswering from './question-answering.js';
import sentenceSimilarity from './sentence-similarity.js';
import summarization from './summarization.js';
import text2textGeneration from './text2text-generation.js';
import textClassification from './text-classification.js';
import textGeneration from './text-generation.js';
import translation from './translation.js';
import textToAudio from './text-to-audio.js';
import textToImage from './text-to-image.js';
import textToSpeech from './text-to-speech.js';
import tokenClassification from './token-classification.js';
import zeroShotObjectDetection from './zero-shot-object-detection.js';
import textToVideo from './text-to-video.js';
import unconditionalImageGeneration from './unconditional-image-generation.js';
import videoClassification from './video-classification.js';
import videoTextToText from './video-text-to-text.js';
import visualQuestionAnswering from './visual-question-answering.js';
import zeroShotClassification from './zero-shot-classification.js';
import zeroShotImageClassification from './zero-shot-image-classification.js';

/** All tasks of the interface. Checks, documents and choices are derived from it. */
export const TASKS: Record<TaskId, AnyTask> = {
  'text-generation': textGeneration,
  chat,
  'text2text-generation': text2textGeneration,
  summarization,
  translation,
  'fill-mask': fillMask,
  'text-classification': textClassification,
  'token-classification': tokenClassification,
  'feature-extraction': featureExtraction,
  'sentence-similarity': sentenceSimilarity,
  'zero-shot-classification': zeroShotClassification,
  'question-answering': questionAnswering,
  'image-classification': imageClassification,
  'image-segmentation': imageSegmentation,
  'image-feature-extraction': imageFeatureExtraction,
  'image-to-text': imageToText,
  'object-detection': objectDetection,
  'depth-estimation': depthEstimation,
  'mask-generation': maskGeneration,
  'visual-question-answering': visualQuestionAnswering,
  'document-question-answering': documentQuestionAnswering,
  'zero-shot-image-classification': zeroShotImageClassification,
  'zero-shot-object-detection': zeroShotObjectDetection,
  'text-to-image': textToImage,
  'unconditional-image-generation': unconditionalImageGeneration,
  'image-text-to-text': imageTextToText,
  'audio-classification': audioClassification,
  'automatic-speech-recognition': automaticSpeechRecognition,
  'text-to-speech': textToSpeech,
  'text-to-audio': textToAudio,
  'audio-text-to-text': audioTextToText,
  'video-classification': videoClassification,
  'video-text-to-text': videoTextToText,
  'text-to-video': textToVideo,
};

export const taskOf = (id: TaskId): AnyTask => TASKS[id];

/** What a task needs of an engine; undefined for names of none. */
export const headOf = (task: string, engine: string): Head | undefined => {
  const { engines } = (TASKS as Partial<Record<string, AnyTask>>)[task] ?? {};
  return engines?.[engine as EngineId]?.head;
};
