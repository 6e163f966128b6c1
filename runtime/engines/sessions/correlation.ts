/** Of equally many numbers around their means, from -1 to 1; 0 where one side does not vary. */
export function correlation(a: Float32Array, b: Float32Array): number {
  const mean = (values: Float32Array) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [middleA, middleB] = [mean(a), mean(b)];
  let [product, squareA, squareB] = [0, 0, 0];
  a.forEach((value, i) => {
    const [x, y] = [value - middleA, b[i]! - middleB];
    product += x * y;
    squareA += x * x;
    squareB += y * y;
  });
  return squareA === 0 || squareB === 0 ? 0 : product / Math.sqrt(squareA * squareB);
}
