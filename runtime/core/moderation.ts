/**
 * Which labels of a classifier flag a text: each with the least score that does. An operator's or a caller's word, since names of labels
 * don't tell what harms: `LABEL_0` may be either, and `neutral` is harmless in one set and a stance in another.
 */
export type ModerationFlags = Readonly<Record<string, number>>;
