import { Command } from 'commander';
import { eachPlatform, onePlatform } from '../../../../builder/images/platforms.js';
import { hostPlatform, type Platform, PLATFORMS } from '../../../../builder/images/platform.js';
import { addImageOptions, type ImageChoice } from '../../../../builder/options.js';

const host = hostPlatform();
const other: Platform = PLATFORMS.find((platform) => platform !== host)!;
const flagsOf = (...args: string[]) => {
  const command = addImageOptions(new Command())
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  return command.parse(args, { from: 'user' }).opts<ImageChoice>();
};

test('this machine keeps the plain tags, others end theirs', () => {
  const suffix = other.split('/')[1];
  expect(
    eachPlatform(flagsOf('--platform', `${other},${host}`)).map(({ platform, variant }) => [
      platform,
      variant,
    ]),
  ).toEqual([
    [other, suffix],
    [host, undefined],
  ]);
  expect(eachPlatform(flagsOf())).toMatchObject([{ platform: host, baseImage: 'node:24-bookworm-slim' }]);
  expect(onePlatform(flagsOf('--platform', other))).not.toHaveProperty('variant');
});

test('a base for all platforms, or for one', () => {
  const both = ['--platform', `${host},${other}`];
  const bases = (...args: string[]) =>
    eachPlatform(flagsOf(...both, ...args)).map(({ baseImage }) => baseImage);
  expect(bases('--base-image', 'mine:1')).toEqual(['mine:1', 'mine:1']);
  expect(bases('--base-image', `${other}=theirs:1`)).toEqual(['node:24-bookworm-slim', 'theirs:1']);
  expect(bases('--base-image', `${host}=a:1,${other}=b:1`)).toEqual(['a:1', 'b:1']);
  expect(bases('--base-image', 'all:1', '--base-image', `${other}=b:1`)).toEqual(['all:1', 'b:1']);
});

test.each([['linux/s390x'], [''], [`${host},`], [`${host} ${other}`]])('platforms %j are refused', (list) => {
  expect(() => flagsOf('--platform', list)).toThrow(/one of: linux\/amd64, linux\/arm64/);
});

test.each(['x y', 'linux/s390x=a:1', `${host}=`, '=a:1'])('base image %j is refused', (image) => {
  expect(() => flagsOf('--base-image', image)).toThrow();
});

test('what runs is for one platform', () => {
  expect(() => onePlatform(flagsOf('--platform', `${host},${other}`))).toThrow(/one --platform at a time/);
});
