import { spawn } from 'node:child_process';

/** Which of the texts occur anywhere in an image as `docker save` gives it: layers, configuration, history. */
export async function foundInImage(image: string, texts: readonly string[]): Promise<string[]> {
  const needles = texts.flatMap((text) => [text, Buffer.from(text).toString('base64').replace(/=+$/, '')]);
  const overlap = Math.max(...needles.map((needle) => needle.length));
  const found = new Set<string>();
  const child = spawn('docker', ['save', image], { stdio: ['ignore', 'pipe', 'inherit'] });
  let tail = Buffer.alloc(0);
  let bytes = 0;
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    const window = Buffer.concat([tail, chunk]);
    for (const needle of needles) if (window.includes(needle)) found.add(needle);
    tail = window.subarray(-overlap);
  }
  // A scan of nothing would find nothing.
  if (bytes < 1e6) throw new Error(`docker save ${image} gave ${bytes} bytes`);
  return [...found];
}
