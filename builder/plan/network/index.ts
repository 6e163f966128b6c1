import { isObject } from '../../../runtime/hub-config/json.js';
import type { NetworkFacts } from '../../../runtime/core/network.js';
import { audioNetwork } from './audio-steps.js';
import { type Json } from './config-fields.js';
import { imageParts } from './image-parts.js';
import { sizesOf } from './sizes.js';

/** Configurations of networks that run by themselves, with sizes of their own. */
const INNER = ['text_encoder', 'encoder', 'decoder'];

/** Reads of config.json, in the form of normalizeConfig, what memory is computed from. Pure; what is unreadable is unknown. */
export function networkFacts(config: Json): NetworkFacts {
  const inner = INNER.flatMap((name) => {
    const own = config[name];
    return isObject(own) ? [[name, sizesOf(own)] as const] : [];
  });
  return {
    sizes: sizesOf(config),
    ...(inner.length > 0 && { inner: Object.fromEntries(inner) }),
    image: imageParts(config),
    audio: audioNetwork(config),
  };
}

export { sizesOf } from './sizes.js';
