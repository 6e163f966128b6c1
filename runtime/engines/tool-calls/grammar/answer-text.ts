import type { Lark } from './lark.js';

/** Writes the rule of an answer's text. @returns the expression */
export type AnswerText = (lark: Lark) => string;
