import type { Json } from './facts.js';

/** A file of JSON. */
export const jsonText = (value: Json): string => `${JSON.stringify(value, null, 1)}\n`;
