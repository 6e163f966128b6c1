import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import tar from 'tar-stream';
import { FIXED_MTIME } from '../images/tar.js';
import { decompress } from './compression.js';
import type { Member } from './members.js';
import { hashStream, teeStream } from './streams.js';

/** Writes the members of an archive in sequence. */
export interface ArchiveWriter {
  document(name: string, content: Buffer | string): Promise<void>;
  /** Copies a layer as it is stored. @returns its diff ID: `sha256:` and the hash of its uncompressed tar */
  layer(name: string, source: Member): Promise<string>;
}

/** An archive that is written on demand while it is read; it fails when `write` fails. */
export function composeArchive(write: (archive: ArchiveWriter) => Promise<void>): Readable {
  const pack = tar.pack({ highWaterMark: 2 ** 18 });
  const stream = pack as unknown as Readable;
  const about = { mode: 0o644, uid: 0, gid: 0, mtime: new Date(FIXED_MTIME * 1000) };
  const writer: ArchiveWriter = {
    document: (name, content) =>
      new Promise((resolve, reject) => {
        pack.entry({ ...about, name }, content, (error) => (error ? reject(error) : resolve()));
      }),
    async layer(name, { size, content }) {
      const [stored, read] = teeStream(content);
      const entry = pack.entry({ ...about, name, size }) as unknown as NodeJS.WritableStream;
      const [diffId] = await Promise.all([diffIdOf(read), pipeline(stored, entry)]);
      return diffId;
    },
  };
  write(writer).then(
    () => pack.finalize(),
    (error: Error) => stream.destroy(error),
  );
  return stream;
}

/** Reads a layer to its end. @returns `sha256:` and the hash of its uncompressed tar */
export async function diffIdOf(content: Readable): Promise<string> {
  const { stream, digest } = hashStream(await decompress(content));
  stream.resume();
  return digest;
}
