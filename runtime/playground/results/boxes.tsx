import { useState } from 'preact/hooks';
import { colorOf, isNumber, isRow, percent, rowsOf } from './guards.js';
import { ImageView } from './image.js';
import type { Shown } from './result.js';

interface Found {
  label: string;
  score: number;
  box: { xmin: number; ymin: number; xmax: number; ymax: number };
}

/** Objects with boxes in pixels of the image. */
export function boxesOf({ answer: { output } }: Shown): Found[] | null {
  const rows = rowsOf(output);
  if (!rows?.length || !rows.every(({ box, score }) => isRow(box) && isNumber(score))) return null;
  return rows as unknown as Found[];
}

/** Boxes on the image; the one whose row is pointed at lights up. */
export function Boxes({ read, shown }: { read: Found[]; shown: Shown }) {
  const [lit, setLit] = useState<number>();
  return (
    <>
      <ImageView
        source={shown.input['base64']}
        over={({ width, height }) => (
          <svg class="over" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`${read.length} boxes`}>
            {read.map(({ box: { xmin, ymin, xmax, ymax } }, i) => (
              <rect
                key={i}
                class={lit === i ? 'lit' : lit === undefined ? '' : 'dim'}
                x={xmin}
                y={ymin}
                width={xmax - xmin}
                height={ymax - ymin}
                stroke={colorOf(i)}
                fill={colorOf(i)}
                vector-effect="non-scaling-stroke"
              />
            ))}
          </svg>
        )}
      />
      <ul class="rows">
        {read.map(({ label, score, box }, i) => (
          <li
            key={i}
            tabIndex={0}
            onMouseEnter={() => setLit(i)}
            onMouseLeave={() => setLit(undefined)}
            onFocus={() => setLit(i)}
            onBlur={() => setLit(undefined)}
          >
            <svg class="swatch" viewBox="0 0 1 1" aria-hidden="true">
              <rect width="1" height="1" fill={colorOf(i)} />
            </svg>
            <span class="label">{label}</span>
            <span class="score">{percent(score)}</span>
            <small>
              {box.xmin}, {box.ymin} – {box.xmax}, {box.ymax}
            </small>
          </li>
        ))}
      </ul>
    </>
  );
}
