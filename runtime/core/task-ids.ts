/** The 34 task names of the interface, in the order in which pages list them. */
export const TASK_IDS = [
  'text-generation',
  'chat',
  'text2text-generation',
  'summarization',
  'translation',
  'fill-mask',
  'text-classification',
  'token-classification',
  'feature-extraction',
  'sentence-similarity',
  'zero-shot-classification',
  'question-answering',
  'image-classification',
  'image-segmentation',
  'image-feature-extraction',
  'image-to-text',
  'object-detection',
  'depth-estimation',
  'mask-generation',
  'visual-question-answering',
  'document-question-answering',
  'zero-shot-image-classification',
  'zero-shot-object-detection',
  'text-to-image',
  'unconditional-image-generation',
  'image-text-to-text',
  'audio-classification',
  'automatic-speech-recognition',
  'text-to-speech',
  'text-to-audio',
  'audio-text-to-text',
  'video-classification',
  'video-text-to-text',
  'text-to-video',
] as const;

export type TaskId = (typeof TASK_IDS)[number];

/** Chats about media. */
export const MEDIA_CHATS = [
  'image-text-to-text',
  'audio-text-to-text',
  'video-text-to-text',
] as const satisfies readonly TaskId[];

export const isMediaChat = (task: TaskId): boolean => (MEDIA_CHATS as readonly TaskId[]).includes(task);

export function isTaskId(name: string): name is TaskId {
  return (TASK_IDS as readonly string[]).includes(name);
}
