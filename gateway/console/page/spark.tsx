/** Values over time; gaps where there are none. */
export interface Series {
  label: string;
  values: readonly (number | null)[];
  /** Text of the largest value. */
  format(value: number): string;
}

const [WIDTH, HEIGHT] = [160, 36];

/** A small chart for the last half hour, with its largest value; nothing before there are two. */
export function Spark({ label, values, format }: Series) {
  const known = values.filter((value) => value !== null);
  if (known.length < 2) return null;
  const top = Math.max(...known);
  const said = `${label}, last ${values.length} samples: up to ${format(top)}, now ${format(known.at(-1)!)}`;
  return (
    <>
      <svg
        class="spark"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={said}
      >
        <title>{said}</title>
        {lines(values, top).map((points) => (
          <polyline key={points} points={points} vector-effect="non-scaling-stroke" />
        ))}
      </svg>
      <small class="scale" aria-hidden="true">
        up to {format(top)}
      </small>
    </>
  );
}

/** A line for each stretch without a gap. */
function lines(values: Series['values'], top: number): string[] {
  const step = WIDTH / Math.max(1, values.length - 1);
  const y = (value: number) => HEIGHT - 2 - (top > 0 ? value / top : 0) * (HEIGHT - 4);
  const stretches: string[][] = [[]];
  for (const [i, value] of values.entries()) {
    if (value === null) stretches.push([]);
    else stretches.at(-1)!.push(`${(i * step).toFixed(1)},${y(value).toFixed(1)}`);
  }
  // A point alone is drawn as a short line.
  return stretches
    .filter((points) => points.length > 0)
    .map((points) => (points.length > 1 ? points : [points[0]!, points[0]!]).join(' '));
}
