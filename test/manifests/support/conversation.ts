import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { AUTHORITY, startTlsFront } from '../../fakes/proxy.js';

/** What is asked of an API server. */
export interface Question {
  method: string;
  /** Path and query. */
  at: string;
  /** Who asks: the name of an account, or the header of somebody unknown. */
  who: string;
  type?: string;
  body?: string;
}

/** What it says. Of what was changed only the status is kept, of what was read all. */
export interface Said {
  status: number;
  warnings?: string[];
  body?: unknown;
}

interface Recorded {
  /** Version of Kubernetes, for the reader. */
  kubernetes: string;
  /** By the hash of all that the answer depends on. */
  answers: Record<string, Said & { question: string }>;
}

export interface ConversationOptions {
  /** With what was said. */
  file: string;
  kubernetes: string;
  /** Everything about the server that its answers depend on. */
  judge: string;
  /** Names of accounts by their authorization. */
  accounts: Record<string, string>;
  /** What differs from run to run, and what stands for it. */
  standIns: readonly (readonly [here: string, recorded: string])[];
  /** Asks a real server. Without it only what one has said before is an answer. */
  ask?: (question: Question) => Promise<Said>;
}

export interface Conversation {
  url: string;
  /** The authority of its certificate. */
  caFile: string;
  /** Again does nothing. */
  close(): Promise<void>;
}

const hash = (...parts: string[]) => createHash('sha256').update(JSON.stringify(parts)).digest('hex');

/**
 * Stands where an API server would: with a real one behind it, it passes everything on and writes down what was said;
 * without one it says the same again. An answer is found by the version of the server, all that was changed before, who
 * asks, and every byte of the question, so that whatever is new has none: that is status 501.
 */
export async function startConversation(options: ConversationOptions): Promise<Conversation> {
  const { file, kubernetes, judge, accounts, ask } = options;
  const known = ask ? {} : readRecorded(file).answers;
  const reads = new Map<string, Question>();
  let history = hash(judge);

  async function answer(question: Question): Promise<Said> {
    const { method, at, who, type = '', body = '' } = question;
    const key = hash(history, method, at, who, type, body).slice(0, 32);
    if (ask) known[key] = { question: `${who}: ${method} ${at}`, ...(await ask(question)) };
    const { question: _, ...said } = known[key] ?? { question: '', ...UNKNOWN };
    if (method === 'GET') reads.set(`${who} ${at}`, question);
    else if (said.status < 300 && !at.includes('dryRun=')) await change(key);
    return said;
  }

  /** What was read may be read again, sooner or later: each state of the server has an answer to it. */
  async function change(key: string): Promise<void> {
    history = hash(history, key);
    if (ask) for (const question of [...reads.values()]) await answer(question);
  }

  // One after the other: an answer belongs to the state in which its question came.
  let turn: Promise<unknown> = Promise.resolve();
  const replace = (text: string, from: 0 | 1) =>
    options.standIns.reduce((all, pair) => all.replaceAll(pair[from], pair[1 - from]!), text);
  const server = createServer(async (request, response) => {
    const question = await readQuestion(request, accounts, (text) => replace(text, 0));
    const said = (turn = turn.then(() => answer(question)));
    const { status, warnings = [], body } = (await said) as Said;
    for (const warning of warnings) response.appendHeader('warning', warning);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(replace(JSON.stringify(body ?? {}), 1));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const tls = await startTlsFront((server.address() as AddressInfo).port);
  let closed = false;
  return {
    url: `https://127.0.0.1:${tls.port}`,
    caFile: AUTHORITY,
    async close() {
      if (closed) return;
      closed = true;
      tls.close();
      server.closeAllConnections();
      server.close();
      await turn;
      if (ask) writeRecorded(file, { kubernetes, answers: known });
    },
  };
}

const UNKNOWN: Said = {
  status: 501,
  body: { message: 'no API server has been asked this: "make manifests" asks one and keeps what it says' },
};

async function readQuestion(
  request: IncomingMessage,
  accounts: ConversationOptions['accounts'],
  replaced: (text: string) => string,
): Promise<Question> {
  const { method = '', url = '', headers } = request;
  const who = accounts[headers.authorization ?? ''] ?? headers.authorization ?? 'nobody';
  return { method, at: url, who, type: headers['content-type'], body: replaced(await textOf(request)) };
}

function readRecorded(file: string): Recorded {
  return JSON.parse(readFileSync(file, 'utf8')) as Recorded;
}

function writeRecorded(file: string, { kubernetes, answers }: Recorded): void {
  const sorted = Object.fromEntries(Object.entries(answers).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(file, `${JSON.stringify({ kubernetes, answers: sorted }, null, 1)}\n`);
}
