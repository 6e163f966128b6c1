import type { TaskId } from '../core/task-ids.js';
import type { Dialect, DialectRoute } from './dialect.js';
import { huggingFace } from './huggingface/routes.js';
import { anthropic } from './anthropic/routes.js';
import { infinity } from './infinity/routes.js';
import { modelContext } from './mcp/routes.js';
import { ollama } from './ollama/routes.js';
import { openInference } from './oip/routes.js';
import { openAi } from './openai/routes.js';
import { reranking } from './rerank/routes.js';
import { tokens } from './tokens/routes.js';
import { textEmbeddings } from './tei/routes.js';

/** All dialects, in the order in which their routes are tried. OpenAI's is last: all other paths below /v1 are its. */
export const DIALECTS: readonly Dialect[] = [
  huggingFace,
  textEmbeddings,
  tokens,
  reranking,
  infinity,
  openInference,
  ollama,
  anthropic,
  modelContext,
  openAi,
];

/** The routes of a dialect that are of use with a model of this task. */
export function routesFor({ routes }: Dialect, task: TaskId): DialectRoute[] {
  return routes.filter(({ tasks }) => !tasks || tasks.includes(task));
}
