import { readFileSync } from 'node:fs';

/** Text of model.json. @param file a path; `/dev/fd/N` is read from that descriptor, which may be a socket */
export function readSpecText(file: string): string {
  const [, descriptor] = /^\/dev\/fd\/(\d+)$/.exec(file) ?? [];
  return readFileSync(descriptor === undefined ? file : Number(descriptor), 'utf8');
}
