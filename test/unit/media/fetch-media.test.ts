import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RunError } from '../../../runtime/core/errors.js';
import { createAddressGuard } from '../../../runtime/media/address-guard.js';
import { createFetchMedia } from '../../../runtime/media/fetch-media.js';
import { DIRECT } from '../../../runtime/network/outgoing-settings.js';

const never = new AbortController().signal;

describe('addresses that a URL may lead to', () => {
  const guard = createAddressGuard(['10.1.0.0/16', '192.168.7.7', 'media.internal', 'fd12::/32']);

  test.each([
    ...['127.0.0.1', '127.9.9.9', '0.0.0.0', '10.0.0.1', '172.16.0.1', '192.168.0.1', '169.254.169.254'],
    ...[
      '100.64.0.1',
      '224.0.0.1',
      '255.255.255.255',
      '198.18.0.1',
      '192.0.2.1',
      '168.63.129.16',
      '100.100.100.200',
    ],
    ...[
      '::1',
      '::',
      'fe80::1',
      'fc00::1',
      'fd00:ec2::254',
      '::ffff:127.0.0.1',
      '::ffff:a9fe:a9fe',
      '::7f00:1',
    ],
    ...['64:ff9b::7f00:1', '2002:7f00:1::', '2001::1', 'ff02::1', 'not an address', ''],
    ...['64:ff9b:1::7f00:1', '1::1', '4000::1', 'fec0::1', 'fe00::1', '5f00::1', '240.0.0.1', '0.1.2.3'],
  ])('%s is refused', (address) => {
    expect(guard.allows(address)).toBe(false);
  });

  test.each(['93.184.216.34', '8.8.8.8', '2606:2800:220:1::1'])('%s is public', (address) => {
    expect(guard.allows(address)).toBe(true);
  });

  test.each(['10.1.2.3', '192.168.7.7', '::ffff:192.168.7.7', 'fd12::9'])('%s was allowed', (address) => {
    expect(guard.allows(address)).toBe(true);
  });

  test('a host is allowed by its whole name', () => {
    expect(guard.allowsHost('MEDIA.internal')).toBe(true);
    expect(guard.allowsHost('x.media.internal')).toBe(false);
  });
});

describe('fetching', () => {
  const servers: Server[] = [];
  afterAll(() => servers.forEach((server) => (server.closeAllConnections(), server.close())));

  async function serve(listener: RequestListener): Promise<string> {
    const server = createServer(listener).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  const options = { allowPrivate: [] as string[], maxBytes: 1000, timeoutMs: 500, outgoing: DIRECT };
  const fetchAny = createFetchMedia(options);
  const fetchLocal = createFetchMedia({ ...options, allowPrivate: ['127.0.0.1'] });

  test.each([
    ...[
      'http://127.0.0.1:9/x',
      'http://localhost:9/x',
      'http://0x7f.1:9/',
      'http://2130706433:9/',
      'http://0:9/',
    ],
    ...[
      'http://[::1]:9/',
      'http://[::ffff:127.0.0.1]:9/',
      'http://[::7f00:1]:9/',
      'http://169.254.169.254/latest',
    ],
  ])('%s is refused without a connection', async (url) => {
    await expect(fetchAny(url, never)).rejects.toMatchObject({
      code: 'unprocessable',
      message: expect.stringMatching(/ALLOW_PRIVATE_URLS/),
    });
  });

  test.each([
    ['ftp://example.com/x', 'unprocessable', /only http and https/],
    ['file:///etc/passwd', 'unprocessable', /only http and https/],
    ['nonsense', 'invalid_input', /not a valid address/],
  ])('%s', async (url, code, message) => {
    await expect(fetchAny(url, never)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });

  test('bytes of an allowed host', async () => {
    const url = await serve((_request, response) => response.end('hello'));
    expect(Buffer.from(await fetchLocal(url, never)).toString()).toBe('hello');
  });

  test('a host allowed by name', async () => {
    const url = await serve((_request, response) => response.end('hello'));
    const fetchNamed = createFetchMedia({ ...options, allowPrivate: ['localhost'] });
    expect((await fetchNamed(url.replace('127.0.0.1', 'localhost'), never)).length).toBe(5);
  });

  test('a redirect within the allowed is followed', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/end') response.end('there');
      else response.writeHead(302, { location: '/end' }).end();
    });
    expect(Buffer.from(await fetchLocal(url, never)).toString()).toBe('there');
  });

  test.each(['http://[::1]:9/', 'http://169.254.169.254/'])(
    'a redirect to %s is refused at that hop',
    async (location) => {
      const url = await serve((_request, response) => response.writeHead(302, { location }).end());
      await expect(fetchLocal(url, never)).rejects.toMatchObject({
        message: expect.stringMatching(/ALLOW_PRIVATE/),
      });
    },
  );

  test('a redirect loop ends', async () => {
    const url = await serve((_request, response) => response.writeHead(302, { location: '/again' }).end());
    await expect(fetchLocal(url, never)).rejects.toMatchObject({ code: 'unprocessable' });
  });

  test('an endless body is cut at the limit', async () => {
    const url = await serve((_request, response) => {
      const timer = setInterval(() => response.write(Buffer.alloc(400)), 5);
      response.on('close', () => clearInterval(timer));
    });
    await expect(fetchLocal(url, never)).rejects.toMatchObject({ code: 'payload_too_large' });
  });

  test('a body announced as too large is not read', async () => {
    const url = await serve((_request, response) =>
      response.setHeader('content-length', '5000').end(Buffer.alloc(5000)),
    );
    await expect(fetchLocal(url, never)).rejects.toMatchObject({ code: 'payload_too_large' });
  });

  test('what counts the bytes may end it', async () => {
    const url = await serve((_request, response) => response.end(Buffer.alloc(600)));
    let count = 0;
    const stop = (bytes: number) => {
      count += bytes;
      throw new RunError('overloaded', 'full');
    };
    await expect(fetchLocal(url, never, stop)).rejects.toMatchObject({ code: 'overloaded' });
    expect(count).toBe(600);
  });

  test.each(['ftp://127.0.0.1/', 'file:///etc/passwd', 'data:text/plain,x', 'http://['])(
    'a redirect to %s leads nowhere',
    async (location) => {
      const url = await serve((_request, response) => response.writeHead(302, { location }).end());
      await expect(fetchLocal(url, never)).rejects.toMatchObject({ code: 'unprocessable' });
    },
  );

  test('a silent host is given up', async () => {
    const url = await serve(() => {});
    await expect(fetchLocal(url, never)).rejects.toMatchObject({
      message: expect.stringMatching(/0\.5 s \(MEDIA_TIMEOUT\)/),
    });
  });

  test('a status other than 200', async () => {
    const url = await serve((_request, response) => response.writeHead(404).end('no'));
    await expect(fetchLocal(url, never)).rejects.toMatchObject({
      message: expect.stringMatching(/status 404/),
    });
  });

  test('the caller leaves', async () => {
    const url = await serve(() => {});
    await expect(fetchLocal(url, AbortSignal.abort(new Error('left')))).rejects.toThrow('left');
  });
});
