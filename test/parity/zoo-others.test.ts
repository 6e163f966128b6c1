import { compareModels } from './compare-models.js';

await compareModels(1);
