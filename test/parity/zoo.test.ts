import { compareEverySecond } from './compare-models.js';

await compareEverySecond(0);
