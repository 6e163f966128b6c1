import { spawnSync } from 'node:child_process';
import { recorderOptions, targetsIn } from '../../../../builder/verify/recorder.js';

/** What the recorder says of a program that runs under it. */
function targetsOf(program: string): string[] {
  const env = { ...process.env, NODE_OPTIONS: recorderOptions([]) };
  const { stderr, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { env });
  expect(status).toBe(0);
  return targetsIn(JSON.stringify({ msg: String(stderr) }), 80);
}

test.each([
  [
    'fetch by name',
    "await fetch('http://a.invalid:81/').catch(() => 0)",
    ['tcp a.invalid port 81', 'dns a.invalid'],
  ],
  [
    'an import by name',
    "import { lookup } from 'node:dns/promises'; await lookup('b.invalid').catch(() => 0)",
    ['dns b.invalid'],
  ],
  [
    'a socket',
    "import { connect } from 'node:net'; connect(9, '127.0.0.1').on('error', () => 0)",
    ['tcp 127.0.0.1 port 9'],
  ],
  [
    'a datagram',
    "import { createSocket } from 'node:dgram'; const s = createSocket('udp4'); s.send('x', 9, '127.0.0.1', () => s.close())",
    ['udp 127.0.0.1 port 9'],
  ],
  ['a request to the server itself', "await fetch('http://127.0.0.1:80/').catch(() => 0)", []],
])('names the target of %s', (_, program, targets) => {
  expect(targetsOf(program)).toEqual(expect.arrayContaining(targets));
  expect(targetsOf(program)).toHaveLength(targets.length);
});

test('keeps what an image has there itself', () => {
  expect(recorderOptions(['A=1', 'NODE_OPTIONS=--max-old-space-size=99'])).toMatch(
    /^--import=\S+ --max-old-space-size=99$/,
  );
});
