import { compareHeads } from '../parity/compare-models.js';

await compareHeads(1);
