import { PassThrough, pipeline, type Readable } from 'node:stream';
import tar, { type Header } from 'tar-stream';
import { explainReadError, malformedArchive } from './errors.js';
import { pipeWithErrors } from './streams.js';

/** One entry of a tar. Read or skip its content before taking the next one. */
export interface Member {
  /** As in the tar, without a leading `./` or a trailing slash. */
  name: string;
  type: Header['type'];
  size: number;
  linkname: string | undefined;
  content: Readable;
}

/**
 * Reads the entries of a plain tar one after the other, without keeping them in memory or on disk.
 * @param name of the tar, for errors
 * @throws BuilderError for a tar that is cut off, damaged, or names what is outside of it
 */
export async function* members(source: Readable, name: string): AsyncGenerator<Member> {
  const extract = tar.extract();
  const entries = extract[Symbol.asyncIterator]();
  // The iterator throws the error; the empty callback avoids an uncaught exception.
  pipeline(source, extract as unknown as NodeJS.WritableStream, () => undefined);
  try {
    for (;;) {
      const { value: entry, done } = await entries.next();
      if (done) return;
      const content = pipeWithErrors(entry as unknown as Readable, new PassThrough());
      // A reader gets this error; without a reader, the iterator throws it at the next entry.
      content.on('error', () => undefined);
      yield { ...headerOf(entry, name), content };
      content.resume();
    }
  } catch (error) {
    throw explainReadError(name, error as Error);
  } finally {
    extract.destroy();
    source.destroy();
  }
}

function headerOf(entry: { header: Header }, tarName: string): Omit<Member, 'content'> {
  const { name, type, size, linkname } = entry.header;
  // Null for kinds that the library does not know, contrary to its types.
  if (!(type as Header['type'] | null))
    throw malformedArchive(tarName, `has an entry of an unknown kind, "${name}"`);
  if (type !== 'file' && type !== 'contiguous-file' && size > 0)
    throw malformedArchive(tarName, `has an entry with content that can have none, "${name}"`);
  const plain = plainName(name);
  if (plain === undefined) throw malformedArchive(tarName, `has an entry that leads out of it, "${name}"`);
  return { name: plain, type, size, linkname: linkname || undefined };
}

/** Normalizes a name; some builders write absolute ones. @returns undefined for a name with `..` */
function plainName(name: string): string | undefined {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  return parts.includes('..') || name.includes('\0') ? undefined : parts.join('/');
}
