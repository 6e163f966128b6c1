import { TASK_IDS } from '../../runtime/core/task-ids.js';

import { type ZooGateway, zooGateway } from '../fakes/zoo-gateway.js';
import { openAiClient } from './zoo/openai-client.js';
import { publishedClients } from './zoo/published-clients.js';

/** A model of every task behind one gateway. Loading them takes as long as all that is asked of them. */

let zoo: ZooGateway | undefined;
beforeAll(async () => {
  zoo = await zooGateway(TASK_IDS);
}, 120_000);
afterAll(() => zoo?.close());

describe('the published clients', () => publishedClients(() => zoo!));
describe('OpenAI’s client', () => openAiClient(() => zoo!));
