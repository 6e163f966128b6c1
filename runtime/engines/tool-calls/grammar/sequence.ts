import type { Lark } from './lark.js';

/** One of several items that follow each other. */
export interface Item {
  body: string;
  required: boolean;
}

/** Items in their order; those that are not required may be left out. @param joint stands between two of them */
export function inOrder(lark: Lark, items: readonly Item[], joint: string): string {
  // From the end on: the rest where an item came before, and where none did.
  let after = '""';
  let alone = '""';
  for (const { body, required } of items.toReversed()) {
    const [withJoint, without] = [`${joint} ${body} ${after}`, `${body} ${after}`];
    alone = lark.rule(required ? without : `${without} | ${alone}`);
    after = lark.rule(required ? withJoint : `${withJoint} | ${after}`);
  }
  return alone;
}
