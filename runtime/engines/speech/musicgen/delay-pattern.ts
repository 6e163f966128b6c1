/**
 * Tells which tokens are forced: codebook k begins k steps late and ends K - k - 1 steps early, and what is before and after
 * is padding (MusicgenForCausalLM.build_delay_pattern_mask). Audio clips too short for that are not delayed.
 * @param length steps, the start token included
 */
export function delayPattern(
  codebooks: number,
  length: number,
): (codebook: number, position: number) => boolean {
  if (length < 2 * codebooks - 1) return (_, position) => position === 0;
  const last = length - codebooks;
  return (codebook, position) => position <= codebook || position > last + codebook;
}
