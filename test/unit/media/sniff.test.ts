import { DEMUXERS } from '../../../runtime/media/formats.js';
import { sniff } from '../../../runtime/media/sniff.js';

const latin1 = (text: string, size = 64) => Buffer.concat([Buffer.from(text, 'latin1'), Buffer.alloc(size)]);

/** 2 x 1 pixels, by Pillow. */
const TGA = 'AAACAAAAAAAAAAAAAgABABgAAAAAAAAAAAAAAAAAAAAAVFJVRVZJU0lPTi1YRklMRS4A';

test.each([
  ['RF64', latin1('RF64\xff\xff\xff\xffWAVEds64'), 'audio/wav'],
  ['BW64', latin1('BW64\xff\xff\xff\xffWAVEds64'), 'audio/wav'],
  ['Wave64', latin1('riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb\x04\xc1\x00\x00'), 'audio/x-w64'],
  ['AC-3', latin1('\x0b\x77\x9c\xe9\x4c\x40\x2f\x84'), 'audio/vnd.dolby.dd-raw'],
  ['AU', latin1('.snd'), 'audio/basic'],
  ['CAF', latin1('caff'), 'audio/x-caf'],
])('%s is read by ffmpeg', async (_, bytes, type) => {
  expect(await sniff(bytes)).toBe(type);
});

const IMAGE = '(not supported: send it as PNG, JPEG or WebP)';
const AUDIO = '(not supported: send it as WAV, FLAC, MP3 or Ogg)';

test.each([
  ['TGA', Buffer.from(TGA, 'base64'), IMAGE],
  ['TGA', latin1('\0\0\x0a\0\0\0\0\0\0\0\0\0\x02\0\x01\0\x18\0'), IMAGE],
  ['ICO', latin1('\0\0\x01\0\x01\0\x20\x20'), IMAGE],
  ['PCX', latin1('\x0a\x05\x01\x08'), IMAGE],
  ...['P1\n', 'P2 ', 'P3#', 'P4\n', 'P5\n', 'P6 ', 'P7\n'].map(
    (magic) => ['PPM, PGM, PBM or PAM', latin1(`${magic}2 1 255`), IMAGE] as const,
  ),
  ['JPEG 2000', latin1('\xff\x4f\xff\x51\0\x2f'), IMAGE],
  ['JPEG 2000', latin1('\0\0\0\x0cjP  \r\n\x87\n\0\0\0\x14ftypjp2 '), IMAGE],
  ['DDS', latin1('DDS \x7c\0\0\0'), IMAGE],
  ['HEIC', latin1('\0\0\0\x18ftypheic'), IMAGE],
  ['SVG', latin1('<svg xmlns="http://www.w3.org/2000/svg">'), IMAGE],
  ['WavPack', latin1('wvpk'), AUDIO],
  ['True Audio', latin1('TTA1'), AUDIO],
  ['DTS', latin1('\x7f\xfe\x80\x01'), AUDIO],
] as const)('%s is refused by its name, with what to do', async (name, bytes, remedy) => {
  expect(await sniff(bytes)).toBe(`${name} ${remedy}`);
});

test('a text is nothing', async () => {
  expect(await sniff(Buffer.from('Image of a harbour'))).toBeUndefined();
  expect(await sniff(Buffer.alloc(0))).toBeUndefined();
});

test('no format that ffmpeg may open names other files, and none is there twice', () => {
  expect(DEMUXERS).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/concat|hls|dash|image2|sdp|rtsp/)]),
  );
  expect(new Set(DEMUXERS).size).toBe(DEMUXERS.length);
});
