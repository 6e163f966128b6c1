import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { IMAGE } from '../../runtime/tasks/example.js';
import { AUTHORITY, type Proxy, startProxy, startTlsFront } from '../fakes/proxy.js';
import type { TestContainer } from './support/container.js';
import { describeWithDocker } from './support/engine.js';
import { openWorkshop, type Workshop } from './support/workshop.js';

/** A container that reaches the hub and a link through a proxy only, both with certificates of a private authority. */
describeWithDocker('a container behind a proxy and a private certificate authority', () => {
  let workshop: Workshop;
  let media: Server;
  let proxy: Proxy;
  let image: string;
  const fronts: { port: number; close(): void }[] = [];
  let flags: string[];

  beforeAll(async () => {
    workshop = await openWorkshop();
    media = createServer((_request, response) => response.end(Buffer.from(IMAGE, 'base64')));
    media.listen(0, '127.0.0.1');
    await once(media, 'listening');
    const ports = [workshop.hub.port, (media.address() as AddressInfo).port];
    for (const port of ports) fronts.push(await startTlsFront(port));
    const targets = { 'hub.test:443': fronts[0]!.port, 'media.test:443': fronts[1]!.port };
    proxy = await startProxy({ targets, password: 'user:secret', host: '0.0.0.0' });
    image = await workshop.build(workshop.hub.models.image.about.id);
    flags = [
      ...['--add-host', 'proxy.test:host-gateway', '--env', 'HF_ENDPOINT=https://hub.test'],
      ...['--env', `HTTPS_PROXY=http://user:secret@proxy.test:${proxy.port}`],
      ...['--env', 'ALLOW_PRIVATE_URLS=media.test'],
    ];
  });
  afterAll(async () => {
    await workshop.close();
    await proxy.close();
    for (const { close } of fronts) close();
    media.closeAllConnections();
    media.close();
  });

  const trusting = (variable: string) => [
    ...['--volume', `${AUTHORITY}:/etc/company-ca.pem:ro`, '--env', `${variable}=/etc/company-ca.pem`],
  ];

  test.each(['SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE', 'NODE_EXTRA_CA_CERTS'])(
    'downloads its weights and fetches a link, with a mounted bundle in %s',
    async (variable) => {
      proxy.requests.length = 0;
      const container: TestContainer = await workshop.start(image, [...flags, ...trusting(variable)]);
      await container.ready();
      const { status, envelope } = await container.run({ url: 'https://media.test/image.png' });
      expect([status, envelope.error]).toEqual([200, null]);
      expect(new Set(proxy.requests)).toEqual(new Set(['CONNECT hub.test:443', 'CONNECT media.test:443']));
      expect(await container.log()).not.toContain('secret@');
      await container.remove();
    },
  );

  test('without the bundle the log names the variables', async () => {
    const container = await workshop.start(image, flags);
    // The error has the log, with what /health says while it waits for the next try.
    await expect(container.ready(20_000)).rejects.toThrow(
      /not trusted here[^]*SSL_CERT_FILE \(or REQUESTS_CA_BUNDLE, NODE_EXTRA_CA_CERTS\); in a container, mount it/,
    );
  });
});
