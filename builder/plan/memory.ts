/** Server and engine process together, without a model. */
const PROCESSES_BYTES = 170e6;

export interface Figures {
  /** Bytes of all files. */
  totalBytes: number;
  /** Most memory while the model is loaded: the weights are read and laid out anew at the same time. */
  loadPeakBytes: number;
  /** Memory once loaded, without a request. */
  steadyBytes: number;
}

/** Predicted memory of a model on a CPU: 2.1 x (loading) and 1.1 x (loaded) its files, and 170 MB for the processes. */
export function predictFigures(totalBytes: number): Figures {
  return {
    totalBytes,
    loadPeakBytes: Math.round(2.1 * totalBytes + PROCESSES_BYTES),
    steadyBytes: Math.round(1.1 * totalBytes + PROCESSES_BYTES),
  };
}
