/** Decoders that keep states beside or in place of keys and values: Bamba, Falcon-H1. */

export const NAMES = {
  norm: 'model.final_layernorm',
  feedForwardNorm: 'pre_ff_layernorm',
  feedForward: 'feed_forward',
};
