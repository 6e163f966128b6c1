import { buffer } from 'node:stream/consumers';
import { members } from '../archive/members.js';
import type { Docker } from './docker.js';

/** A file of an image. */
export interface ImagePath {
  reference: string;
  path: string;
}

/** Bytes of a file of an image, in memory; none for a link, undefined if it does not exist. */
export function readBytes(docker: Pick<Docker, 'readImage'>, at: ImagePath): Promise<Buffer | undefined> {
  return docker.readImage(at, async (stream) => {
    let content = Buffer.alloc(0);
    for await (const member of members(stream, at.reference)) {
      if (member.type === 'file') content = await buffer(member.content);
    }
    return content;
  });
}
