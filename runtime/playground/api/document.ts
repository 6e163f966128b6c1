import { useEffect, useState } from 'preact/hooks';
import type { Schema } from './schema.js';

/** What the schemas do not say of a task: `x-slipway` of its operation. */
export interface Form {
  /** What the request has at its top: a text, a medium, messages, or nothing. */
  modality: string;
  /** Media that messages may hold. */
  blocks?: string;
  /** What the answer is, if it is a medium. */
  makes?: string;
  /** The answer comes in pieces of text. */
  streams: boolean;
  /** The work has steps that are told. */
  steps: boolean;
}

export interface OpenApi {
  info: { title: string; description: string };
  paths: Record<string, { post?: Operation }>;
}

interface Operation {
  summary: string;
  operationId: string;
  'x-slipway': Form;
  requestBody: { content: { 'application/json': { schema: Schema; example: Record<string, unknown> } } };
}

/** The server tells what it has to those only who have a key. */
class KeyNeeded extends Error {}

/** @throws KeyNeeded; Error when the server does not answer with a document */
async function fetchDocument(key: string): Promise<OpenApi> {
  const response = await fetch('openapi.json', { headers: key ? { Authorization: `Key ${key}` } : {} });
  if (response.status === 401)
    throw new KeyNeeded(key ? 'This key is not known.' : 'This server wants a key.');
  if (!response.ok) throw new Error(`the description of this model can't be read (${response.status})`);
  return (await response.json()) as OpenApi;
}

export interface Access {
  /** The model's OpenAPI document, once it has come. */
  document: OpenApi | undefined;
  /** Why it has not come. */
  problem: string;
  /** A key is needed, and none that is known was given. */
  isLocked: boolean;
  secret: string;
  setSecret(key: string): void;
  load(): Promise<void>;
}

/** The model's OpenAPI document, asked for when the page opens, and again with each key that the visitor gives. */
export function useDocument(): Access {
  const [document, setDocument] = useState<OpenApi>();
  const [problem, setProblem] = useState('');
  const [secret, setSecret] = useState('');
  const [isLocked, setLocked] = useState(false);
  const load = async () => {
    try {
      setDocument(await fetchDocument(secret));
      setProblem('');
      setLocked(false);
    } catch (error) {
      setProblem((error as Error).message);
      setLocked(error instanceof KeyNeeded);
    }
  };
  useEffect(() => void load(), []);
  return { document, problem, isLocked, secret, setSecret, load };
}
