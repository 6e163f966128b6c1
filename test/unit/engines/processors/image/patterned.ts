/** An image whose levels follow from a pixel's place. */
export function patterned(width: number, height: number) {
  const data = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      data.set(
        [x * 7 + y * 3, x * 5 + y * 11, x * y].map((level) => level % 256),
        (y * width + x) * 3,
      );
  return { data, width, height, channels: 3 as const };
}

export const mean = (values: Float32Array): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
