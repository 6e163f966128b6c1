import { Refusal } from '../../../../builder/plan/index.js';

/** The message of a plan that is refused, by the exit of refusals. */
export const refusal = async (planned: Promise<unknown>) => {
  const error = await planned.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Refusal);
  expect((error as Refusal).exit).toBe('refused');
  return (error as Refusal).message;
};
