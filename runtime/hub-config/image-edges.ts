/** Edge of a cell of a network whose stages halve an image. @param usual its stages where it names none */
export function cellOf(vision: Readonly<Record<string, unknown>>, usual: number): number {
  const stages = vision['channel_multiplier'];
  return 2 ** ((Array.isArray(stages) ? stages.length : usual) - 1);
}

/** Edge that Aria's processor gives images, whatever the file of its image processor says. */
export const ARIA_EDGE = 980;

/** Edges of the whole image and of its tiles, which DeepSeek-OCR 2 has learned queries for. */
export const DEEPSEEK_OCR2 = { edge: 1024, tile: 768 };
