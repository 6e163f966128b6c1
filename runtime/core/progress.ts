/** How far work is that goes on in steps of equal length. */
export interface Progress {
  /** Steps that are done; 0 when the work has begun. */
  step: number;
  /** Steps that there are. */
  steps: number;
}
