import { fork } from 'node:child_process';
import ort from 'onnxruntime-node';

/** Identity graph of one float (hand-written ONNX protobuf): enough to make ONNX Runtime open a device. */
const GRAPH = 'CAgSADo3ChAKAXgSAXkiCElkZW50aXR5EgFnWg8KAXgSCgoICAESBAoCCAFiDwoBeRIKCggIARIECgIIAUIECgAQEQ==';

/** In a throw-away child process, since a broken driver may take the process with it. */
export function probeCudaInChild(entry: string, env: NodeJS.ProcessEnv): () => Promise<string | undefined> {
  return () =>
    new Promise((resolve) => {
      const child = fork(entry, ['--probe-cuda'], {
        env,
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
        execArgv: [],
      });
      const timer = setTimeout(() => child.kill('SIGKILL'), 60_000);
      let answer: string | undefined = 'the GPU probe died';
      child.on('message', (message) => (answer = (message as { problem?: string }).problem));
      child.on('exit', () => {
        clearTimeout(timer);
        resolve(answer);
      });
    });
}

/** The child's part: undefined when a session opens on the GPU, else the first line of what went wrong. */
export async function probeCuda(): Promise<string | undefined> {
  try {
    const session = await ort.InferenceSession.create(Buffer.from(GRAPH, 'base64'), {
      executionProviders: ['cuda'],
    });
    await session.release();
    return undefined;
  } catch (error) {
    const [line] = (error as Error).message.split('\n');
    return line!.slice(0, 300);
  }
}
