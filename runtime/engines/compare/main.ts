import { text } from 'node:stream/consumers';
import { likenessOf, type ProbedNetwork } from './likeness.js';
import { probeTokens } from './texts.js';

/**
 * A process of its own, so that two open networks leave no memory behind: reads two networks as JSON from standard input and
 * prints how alike they compute, or why that can't be tried, as JSON.
 */
const [plain, packed] = JSON.parse(await text(process.stdin)) as [ProbedNetwork, ProbedNetwork];
process.stdout.write(JSON.stringify(await likenessOf(plain, packed, await probeTokens(plain.folder))));
