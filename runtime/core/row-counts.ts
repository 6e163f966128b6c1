/** How many runs of a graph had how many rows: pairs of rows and runs. */
export type RowCounts = readonly (readonly [rows: number, runs: number])[];
