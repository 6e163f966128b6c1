import { compareShare } from './compare-models.js';

await compareShare(1);
