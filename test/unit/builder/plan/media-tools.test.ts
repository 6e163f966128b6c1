import { requireMediaTools } from '../../../../builder/plan/media-tools.js';

const none = async () => false;

test.each([
  'automatic-speech-recognition',
  'audio-classification',
  'audio-text-to-text',
  'video-classification',
  'video-text-to-text',
  'text-to-video',
] as const)('%s needs ffmpeg, and says so where there is none', async (task) => {
  await expect(requireMediaTools('org/m', task, none)).rejects.toThrow(
    `org/m needs ffmpeg for ${task}, and none is installed on this machine; install it`,
  );
});

test.each(['text-to-speech', 'image-classification', 'chat'] as const)('%s needs none', async (task) => {
  await requireMediaTools('org/m', task, none);
});
