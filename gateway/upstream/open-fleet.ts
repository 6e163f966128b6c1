import type { Fleet } from '../../builder/docker/fleet.js';
import { GatewayError } from '../errors.js';

/**
 * Loads the Docker client on demand, because gateway images for clusters do not contain it.
 * @throws GatewayError in such an image
 */
export async function openFleet(): Promise<Fleet> {
  try {
    const { dockerodeFleet } = await import('../../builder/docker/dockerode.js');
    return dockerodeFleet();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new GatewayError('this gateway is packed without Docker: give --upstream static or kubernetes');
  }
}
