import { useState } from 'preact/hooks';
import { isRow } from './guards.js';
import type { Shown } from './result.js';

interface Depth {
  png: string;
  /** Rows of the map. */
  values: number[][];
  min: number;
  max: number;
}

/** A map of depths, 0 to 255, with its PNG. */
export function depthOf({ answer: { output } }: Shown): Depth | null {
  if (!isRow(output) || typeof output['depth_png'] !== 'string') return null;
  const values = output['formatted_predicted_depth_array'] as number[][];
  let [min, max] = [Infinity, -Infinity];
  for (const row of values) {
    for (const value of row) {
      min = Math.min(min, value);
      max = Math.max(max, value);
    }
  }
  return { png: output['depth_png'], values, min, max };
}

/** The map with its scale; pointing at it tells the value there. */
export function DepthMap({ read: { png, values, min, max } }: { read: Depth }) {
  const [at, setAt] = useState<number>();
  const point = (event: MouseEvent) => {
    const { left, top, width, height } = (event.currentTarget as Element).getBoundingClientRect();
    const row = values[Math.floor(((event.clientY - top) / height) * values.length)];
    setAt(row?.[Math.floor(((event.clientX - left) / width) * row.length)]);
  };
  return (
    <>
      <img
        class="medium map"
        src={png.startsWith('data:') ? png : `data:image/png;base64,${png}`}
        alt="depth map"
        onMouseMove={point}
        onMouseLeave={() => setAt(undefined)}
      />
      <p class="scale">
        <span>{min}</span>
        <span class="ramp" aria-hidden="true" />
        <span>{max}</span>
        <output>{at === undefined ? '' : `here ${at}`}</output>
      </p>
    </>
  );
}
