/** Edge that Aria's processor gives images, whatever the file of its image processor says. */
export const ARIA_EDGE = 980;

/** Edges of the whole image and of its tiles, which DeepSeek-OCR 2 has learned queries for. */
export const DEEPSEEK_OCR2 = { edge: 1024, tile: 768 };
