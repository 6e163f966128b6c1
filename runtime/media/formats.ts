/* eslint-disable no-control-regex -- signatures are bytes, and bytes below 32 are control characters */

/** The remedies of what is not read. */
const AS_IMAGE = 'send it as PNG, JPEG or WebP';
const AS_AUDIO = 'send it as WAV, FLAC, MP3 or Ogg';

export interface MediaFormat {
  /** What it is called in errors. */
  name: string;
  /** As `file-type` names it, and others that it has for the same. */
  types: readonly string[];
  /** Where `file-type` does not know it: how its bytes begin, as Latin-1, or end. */
  begins?: RegExp;
  ends?: RegExp;
  /** ffmpeg's readers for it. */
  demuxers?: readonly string[];
  /** Set where it is not read: what to do. */
  remedy?: string;
}

/** Audio clips and videos, read by ffmpeg. None of these formats names other files or addresses, as playlists do. */
const PLAYED: readonly MediaFormat[] = [
  {
    ...{ name: 'WAV', types: ['audio/wav', 'audio/vnd.wave'], demuxers: ['wav'] },
    begins: /^(?:RF64|BW64)[^]{4}WAVE/,
  },
  {
    ...{ name: 'Wave64', types: ['audio/x-w64'], demuxers: ['w64'] },
    begins: /^riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb\x04\xc1\x00\x00/,
  },
  { name: 'AIFF', types: ['audio/aiff'], demuxers: ['aiff'] },
  { name: 'AU', types: ['audio/basic'], begins: /^\.snd/, demuxers: ['au'] },
  { name: 'CAF', types: ['audio/x-caf'], begins: /^caff/, demuxers: ['caf'] },
  { name: 'MP3', types: ['audio/mpeg'], demuxers: ['mp3'] },
  { name: 'AAC', types: ['audio/aac'], demuxers: ['aac'] },
  { name: 'AC-3', types: ['audio/vnd.dolby.dd-raw'], demuxers: ['ac3', 'eac3'] },
  {
    name: 'Ogg',
    types: ['audio/ogg', 'audio/ogg; codecs=opus', 'video/ogg', 'application/ogg'],
    demuxers: ['ogg'],
  },
  { name: 'FLAC', types: ['audio/flac', 'audio/x-flac'], demuxers: ['flac'] },
  { name: 'AMR', types: ['audio/amr'], demuxers: ['amr'] },
  {
    ...{ name: 'MP4', demuxers: ['mov', 'mp4'] },
    types: [
      'video/mp4',
      'video/quicktime',
      'video/x-m4v',
      'video/3gpp',
      'video/3gpp2',
      'audio/mp4',
      'audio/x-m4a',
    ],
  },
  { name: 'Matroska', types: ['video/matroska', 'video/webm'], demuxers: ['matroska', 'webm'] },
  { name: 'AVI', types: ['video/vnd.avi'], demuxers: ['avi'] },
  { name: 'GIF', types: ['image/gif'], demuxers: ['gif'] },
  {
    name: 'MPEG',
    types: ['video/mp2t', 'video/mpeg', 'video/MP1S', 'video/MP2P'],
    demuxers: ['mpegts', 'mpeg'],
  },
  { name: 'Flash video', types: ['video/x-flv'], demuxers: ['flv'] },
  { name: 'ASF', types: ['application/vnd.ms-asf', 'video/x-ms-asf', 'audio/x-ms-asf'], demuxers: ['asf'] },
];

/** What is known, so that the refusal can name it. */
const REFUSED: readonly MediaFormat[] = [
  { name: 'HEIC', types: ['image/heic', 'image/heic-sequence'], remedy: AS_IMAGE },
  { name: 'HEIF', types: ['image/heif', 'image/heif-sequence'], remedy: AS_IMAGE },
  { name: 'Photoshop', types: ['image/vnd.adobe.photoshop'], remedy: AS_IMAGE },
  { name: 'JPEG XL', types: ['image/jxl'], remedy: AS_IMAGE },
  {
    ...{ name: 'JPEG 2000', remedy: AS_IMAGE },
    types: ['image/jp2', 'image/jpx', 'image/jpm', 'image/mj2', 'image/j2c'],
  },
  // Uncompressed Targa files begin as cursors do, but have a signature at their end.
  {
    ...{ name: 'TGA', types: ['image/x-tga'], remedy: AS_IMAGE },
    ends: /TRUEVISION-XFILE\.\x00$/,
    begins: /^[^]\x01[\x01\x09][^]{13}\x08|^[^]\x00[\x02\x03\x0a\x0b]\x00{4}\x00[^]{8}[\x08\x10\x18\x20]/,
  },
  { name: 'ICO', types: ['image/x-icon'], remedy: AS_IMAGE },
  { name: 'ICNS', types: ['image/icns'], remedy: AS_IMAGE },
  {
    name: 'PCX',
    types: ['image/x-pcx'],
    begins: /^\x0a[\x00-\x05]\x01[\x01\x02\x04\x08]/,
    remedy: AS_IMAGE,
  },
  {
    ...{ name: 'PPM, PGM, PBM or PAM', types: ['image/x-portable-anymap'], remedy: AS_IMAGE },
    begins: /^P[1-7][\s#]/,
  },
  { name: 'DDS', types: ['image/x-dds'], begins: /^DDS \x7c\x00\x00\x00/, remedy: AS_IMAGE },
  { name: 'WavPack', types: ['audio/wavpack'], remedy: AS_AUDIO },
  { name: 'Monkey’s Audio', types: ['audio/ape'], remedy: AS_AUDIO },
  { name: 'Musepack', types: ['audio/x-musepack'], remedy: AS_AUDIO },
  { name: 'Creative Voice', types: ['audio/x-voc'], remedy: AS_AUDIO },
  { name: 'DSF', types: ['audio/x-dsf'], remedy: AS_AUDIO },
  { name: 'MIDI', types: ['audio/midi'], remedy: AS_AUDIO },
  { name: 'True Audio', types: ['audio/x-tta'], begins: /^TTA1/, remedy: AS_AUDIO },
  { name: 'DTS', types: ['audio/vnd.dts'], begins: /^\x7f\xfe\x80\x01/, remedy: AS_AUDIO },
];

const FORMATS = [...PLAYED, ...REFUSED];

/** Those that ffmpeg may open. */
export const DEMUXERS: readonly string[] = PLAYED.flatMap(({ demuxers = [] }) => demuxers);

export const formatOfType = (type: string): MediaFormat | undefined =>
  FORMATS.find(({ types }) => types.includes(type));

/** Bytes at both ends that signatures lie in. */
const [HEAD, TAIL] = [32, 18];

/** By the signatures of formats that `file-type` does not know. */
export function formatBySignature(bytes: Uint8Array): MediaFormat | undefined {
  const latin1 = (part: Uint8Array) => String.fromCharCode(...part);
  const [head, tail] = [latin1(bytes.subarray(0, HEAD)), latin1(bytes.subarray(-TAIL))];
  return FORMATS.find(({ begins, ends }) => begins?.test(head) || ends?.test(tail));
}
