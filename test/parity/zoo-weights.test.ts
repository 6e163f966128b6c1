import { compareModels } from './compare-models.js';
import { PYTORCH_ONLY, zooModels } from './zoo.js';

compareModels(await zooModels([PYTORCH_ONLY]));
