/** Raw scores of one input over a fixed set of labels. */
export interface Classification {
  /** One logit per label, in the model's order. */
  logits: Float32Array;
  labels: readonly string[];
  /** Kind of training: config.problem_type, else guessed from the number of labels. */
  problem: 'single_label' | 'multi_label' | 'regression';
}
