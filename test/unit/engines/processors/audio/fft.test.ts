import { createFft, powersOfPair } from '../../../../../runtime/engines/processors/audio/fft.js';

/** By its definition. */
function dft(signal: Float64Array): { re: number; im: number }[] {
  return Array.from(signal, (_, k) => {
    let [re, im] = [0, 0];
    for (const [i, value] of signal.entries()) {
      re += value * Math.cos((-2 * Math.PI * i * k) / signal.length);
      im += value * Math.sin((-2 * Math.PI * i * k) / signal.length);
    }
    return { re, im };
  });
}

const wave = (length: number, step: number) =>
  Float64Array.from({ length }, (_, i) => Math.sin(i * step) + Math.cos(i * i));

test.each([1, 2, 3, 7, 16, 30, 49, 400, 401, 512])('a transform of %i numbers', (length) => {
  const signal = wave(length, 0.3);
  const { re, im } = createFft(length)({ re: signal, im: new Float64Array(length) });
  for (const [k, wanted] of dft(signal).entries()) {
    expect(re[k]).toBeCloseTo(wanted.re, 9);
    expect(im[k]).toBeCloseTo(wanted.im, 9);
  }
});

test.each([8, 9, 400])('powers of two real signals of %i numbers in one transform', (length) => {
  const pair = [wave(length, 0.3), wave(length, 1.1)] as const;
  const powers = [0, 1].map(() => new Float64Array(Math.floor(length / 2) + 1)) as [
    Float64Array,
    Float64Array,
  ];
  powersOfPair(createFft(length)({ re: pair[0], im: pair[1] }), powers);
  for (const which of [0, 1] as const) {
    const wanted = dft(pair[which]);
    for (const [k, power] of powers[which].entries())
      expect(power).toBeCloseTo(wanted[k]!.re ** 2 + wanted[k]!.im ** 2, 6);
  }
});
