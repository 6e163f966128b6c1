import type { TaskId } from '../../core/task-ids.js';

/** How the answers to one input look, in the shapes that the Python and the JavaScript client both read. */
export function hfAnswer(task: TaskId, output: unknown, isJavaScript: boolean): unknown {
  return SHAPES[task]?.(output, isJavaScript) ?? output;
}

type Row = Record<string, unknown>;

const text =
  (name: string) =>
  (output: unknown): Row[] =>
    [output].flat().map((one) => ({ [name]: textOf(one) }));

/** Tasks give a text, a message, or an object with probabilities. */
function textOf(output: unknown): unknown {
  if (typeof output !== 'object' || output === null) return output;
  const { content, generated_text } = output as Row;
  return content ?? generated_text;
}

const caption = (output: unknown, isJavaScript: boolean): unknown => {
  const rows = text('generated_text')(output);
  return isJavaScript ? rows[0] : rows;
};

const SHAPES: Partial<Record<TaskId, (output: unknown, isJavaScript: boolean) => unknown>> = {
  'text-generation': text('generated_text'),
  'text2text-generation': text('generated_text'),
  summarization: text('summary_text'),
  translation: text('translation_text'),
  chat: text('generated_text'),
  'image-text-to-text': text('generated_text'),
  'audio-text-to-text': text('generated_text'),
  'video-text-to-text': text('generated_text'),
  'image-to-text': caption,
  'automatic-speech-recognition': (output) => ({ text: textOf(output) }),
  'zero-shot-classification'(output) {
    const { labels, scores } = output as { labels: string[]; scores: number[] };
    return labels.map((label, i) => ({ label, score: scores[i] }));
  },
  // A client refuses scores that are null, which models of pixels give.
  'image-segmentation': (output) =>
    (output as Row[]).map(({ label, score, mask_png }) => ({
      ...{ label, mask: mask_png },
      ...(score === null ? {} : { score }),
    })),
  'depth-estimation'(output) {
    const { formatted_predicted_depth_array, depth_png } = output as Row;
    return { predicted_depth: formatted_predicted_depth_array, depth: depth_png };
  },
};
