import { text } from 'node:stream/consumers';
import { likenessOf, type ProbedGraph } from './likeness.js';

/**
 * A process of its own, so that two open networks leave no memory behind: reads two graphs as JSON from standard input and
 * prints how alike they compute, or nothing for graphs that it can't try.
 */
const [one, other] = JSON.parse(await text(process.stdin)) as [ProbedGraph, ProbedGraph];
const likeness = await likenessOf(one, other);
process.stdout.write(likeness === undefined ? '' : String(likeness));
