/** Sum of a metric of the gateway in Prometheus' text, over the lines that have these labels. */
export function sumOf(text: string, name: string, labels = ''): number {
  const lines = text.split('\n').filter((line) => new RegExp(`^slipway_gateway_${name}[{ ]`).test(line));
  return lines
    .filter((line) => line.includes(labels))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}
