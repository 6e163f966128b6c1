/** Numbers of tokens by steps of an audio clip, token after token. */
export interface TokensBySteps {
  values: Float32Array;
  tokens: number;
  steps: number;
}

/** Where the cheapest way to a position comes from. */
const [BOTH, TOKEN, STEP] = [0, 1, 2];

/**
 * The step at which each token begins on the likeliest way through an audio clip (transformers' _dynamic_time_warping): a way goes to the
 * next token, to the next step, or to both. -1 where there are no steps.
 * @param similarity higher where a token and a step belong together
 */
export function firstSteps(similarity: TokensBySteps): number[] {
  const { tokens, steps } = similarity;
  const from = waysInto(similarity);
  const first = new Array<number>(tokens).fill(-1);
  for (let [i, j] = [tokens, steps]; i > 0;) {
    first[i - 1] = j - 1;
    const way = j === 0 ? TOKEN : from[(j - 1) * tokens + i - 1]!;
    if (way !== STEP) i--;
    if (way !== TOKEN) j--;
  }
  return first;
}

/** [steps, tokens]: where the cheapest way to each position comes from. */
function waysInto({ values, tokens, steps }: TokensBySteps): Uint8Array {
  const from = new Uint8Array(steps * tokens);
  // Costs of one step and the next, with a position before the first token.
  let before = new Float32Array(tokens + 1).fill(Infinity);
  let costs = new Float32Array(tokens + 1).fill(Infinity);
  before[0] = 0;
  for (let j = 0; j < steps; j++) {
    costs[0] = Infinity;
    for (let i = 1; i <= tokens; i++) {
      const [both, token, step] = [before[i - 1]!, costs[i - 1]!, before[i]!];
      const way = both < token && both < step ? BOTH : token < both && token < step ? TOKEN : STEP;
      from[j * tokens + i - 1] = way;
      costs[i] = (way === BOTH ? both : way === TOKEN ? token : step) - values[(i - 1) * steps + j]!;
    }
    [before, costs] = [costs, before];
  }
  return from;
}
