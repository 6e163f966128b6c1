import * as z from 'zod';

const likely = z.object({
  token: z.string(),
  logprob: z.number(),
  bytes: z.array(z.int()).nullish(),
});

const withBytes = ({ token, logprob, bytes }: z.output<typeof likely>) => ({
  ...{ token, logprob },
  // Some servers leave them out.
  bytes: bytes ?? [...Buffer.from(token)],
});

/** Probabilities of an answer's tokens, in the form that tasks have, too. */
export const logprobsField = z
  .object({ content: z.array(likely.extend({ top_logprobs: z.array(likely).nullish() })).nullish() })
  .transform(({ content }) => ({
    content: (content ?? []).map((row) => ({
      ...withBytes(row),
      top_logprobs: (row.top_logprobs ?? []).map(withBytes),
    })),
  }));
