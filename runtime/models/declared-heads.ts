import type { Head } from '../core/handles/index.js';
import { EXPORTED } from './exported.js';
import { FAMILIES, familyOf } from './registry.js';

/** Whether the family of a type, or what is known of its exports, has this head. */
export function declaresHead(modelType: string | undefined, head: Head): boolean {
  if (modelType === undefined) return false;
  const family = familyOf(modelType);
  if (family && Object.hasOwn(family.heads, head)) return true;
  return Object.hasOwn(EXPORTED, modelType) && (EXPORTED[modelType]!.heads?.includes(head) ?? false);
}

/** All types that declare a head, for messages. */
export function typesOfHead(head: Head): string[] {
  const written = FAMILIES.filter(({ heads }) => Object.hasOwn(heads, head)).flatMap((family) => [
    ...family.modelTypes,
  ]);
  const exported = Object.keys(EXPORTED).filter((type) => EXPORTED[type]!.heads?.includes(head));
  return [...new Set([...written, ...exported])].sort();
}
