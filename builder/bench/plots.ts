import { escapeHtml } from './escape.js';
import { number } from './report-text.js';

export interface Series {
  name: string;
  points: [x: number, y: number][];
}

const [WIDTH, HEIGHT] = [720, 260];
const EDGE = { left: 60, right: 10, top: 10, bottom: 36 };
const COLOURS = 6;
const ROW = 26;

/** Horizontal bars, each with its name and value. */
export function bars(rows: readonly { name: string; value: number }[]): string {
  const most = Math.max(...rows.map(({ value }) => value), Number.MIN_VALUE);
  const drawn = rows.map(({ name, value }, i) => {
    const width = (value / most) * (WIDTH * 0.45);
    const y = i * ROW + 4;
    return (
      `<text x="0" y="${y + 14}">${escapeHtml(cut(name))}</text>` +
      `<rect class="c${i % COLOURS}" x="${WIDTH * 0.4}" y="${y}" width="${width.toFixed(1)}" height="18"/>` +
      `<text x="${(WIDTH * 0.4 + width + 6).toFixed(1)}" y="${y + 14}">${number(value)}</text>`
    );
  });
  return figure(drawn.join(''), rows.length * ROW + 8, 'Requests per second');
}

export interface Axes {
  x: string;
  y: string;
}

/** Lines over common axes. */
export function lines(series: readonly Series[], axes: Axes): string {
  return plot(series, axes, (place, i) => (points) => {
    const path = points.map(([x, y]) => place(x, y).join(' ')).join(' L');
    return points.length === 0 ? '' : `<path class="line c${i % COLOURS}" d="M${path}"/>`;
  });
}

/** One dot for each point. */
export function points(series: readonly Series[], axes: Axes): string {
  return plot(
    series,
    axes,
    (place, i) => (points) =>
      points
        .map(([x, y]) => place(x, y))
        .map(([x, y]) => `<circle class="c${i % COLOURS}" cx="${x}" cy="${y}" r="1.5"/>`)
        .join(''),
  );
}

type Place = (x: number, y: number) => [string, string];
type Draw = (place: Place, series: number) => (points: readonly [number, number][]) => string;

function plot(series: readonly Series[], axes: Axes, draw: Draw): string {
  const all = series.flatMap(({ points }) => points);
  const [mostX, mostY] = [0, 1].map((i) => Math.max(...all.map((point) => point[i]!), Number.MIN_VALUE)) as [
    number,
    number,
  ];
  const inner = { width: WIDTH - EDGE.left - EDGE.right, height: HEIGHT - EDGE.top - EDGE.bottom };
  const place: Place = (x, y) => [
    (EDGE.left + (x / mostX) * inner.width).toFixed(1),
    (EDGE.top + (1 - y / mostY) * inner.height).toFixed(1),
  ];
  const ticks = [0, 0.25, 0.5, 0.75, 1];
  const grid = ticks.flatMap((part) => {
    const [x, y] = place(part * mostX, part * mostY);
    return [
      `<path class="axis" d="M${EDGE.left} ${y} H${WIDTH - EDGE.right}"/>`,
      `<text x="${EDGE.left - 6}" y="${y}" dy="4" text-anchor="end">${number(part * mostY)}</text>`,
      `<text x="${x}" y="${HEIGHT - EDGE.bottom + 16}" text-anchor="middle">${number(part * mostX)}</text>`,
    ];
  });
  const names = `<text x="${WIDTH - EDGE.right}" y="${HEIGHT - 4}" text-anchor="end">${axes.x}</text><text x="0" y="12">${axes.y}</text>`;
  const shapes = series.map(({ points }, i) => draw(place, i)(points)).join('');
  const legend = series.map(({ name }, i) => {
    const y = HEIGHT + i * ROW;
    return `<rect class="c${i % COLOURS}" x="${EDGE.left}" y="${y}" width="12" height="12"/><text x="${EDGE.left + 18}" y="${y + 11}">${escapeHtml(cut(name))}</text>`;
  });
  const title = `${axes.y} over ${axes.x}`;
  return figure(grid.join('') + names + shapes + legend.join(''), HEIGHT + series.length * ROW, title);
}

function figure(content: string, height: number, title: string): string {
  return `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeHtml(title)}">${content}</svg>`;
}

const LONGEST = 60;
const cut = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
