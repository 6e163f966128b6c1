export interface HostileBody {
  name: string;
  encoding?: 'gzip' | 'br';
  bytes: Buffer;
}

export const MEBI: number;
export const BOMB: HostileBody;
export function hostileBodies(size: number): HostileBody[];
