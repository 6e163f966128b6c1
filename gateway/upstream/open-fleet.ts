import type { Fleet } from '../../builder/docker/fleet.js';
import { GatewayError } from '../errors.js';

/**
 * The Docker client, loaded when it is asked for: images of the gateway for clusters don't hold it.
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
