/** Upper bounds in seconds of what histograms of durations count, from a lone short text to a long generation. */
export const DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900];
