import ort from 'onnxruntime-node';

/** Identity graph of one float (hand-written ONNX protobuf): enough to make ONNX Runtime open a device. */
const GRAPH = 'CAgSADo3ChAKAXgSAXkiCElkZW50aXR5EgFnWg8KAXgSCgoICAESBAoCCAFiDwoBeRIKCggIARIECgIIAUIECgAQEQ==';

/** Undefined when a session opens on the GPU, else the first line of what went wrong. */
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
