import { useEffect, useRef, useState } from 'preact/hooks';
import { colorOf, isNumber, isRow, percent, rowsOf } from './guards.js';
import { ImageView, type Size } from './image.js';
import type { Shown } from './result.js';

interface Layer {
  label: string;
  score: number | undefined;
  /** A PNG in Base64 whose white pixels belong to the layer, or rows of 0 and 1. */
  mask: string | number[][];
}

interface Segments {
  layers: Layer[];
  size?: Size;
}

/** Segments with masks: PNGs, or rows of numbers beside their scores. */
export function layersOf({ answer: { output } }: Shown): Segments | null {
  if (isRow(output) && Array.isArray(output['masks'])) {
    const scores = output['scores'] as number[];
    const masks = output['masks'] as number[][][];
    return {
      layers: masks.map((mask, i) => ({ label: `mask ${i + 1}`, score: scores[i], mask })),
      size: output['input_image_dimensions'] as Size,
    };
  }
  const rows = rowsOf(output);
  if (!rows?.length || !rows.every(({ mask_png: png }) => typeof png === 'string')) return null;
  const layers = rows.map((row) => ({
    label: String(row['label']),
    score: isNumber(row['score']) ? row['score'] : undefined,
    mask: row['mask_png'] as string,
  }));
  return { layers };
}

/** Segments as coloured layers over the image. */
export function Layers({ read: { layers, size }, shown }: { read: Segments; shown: Shown }) {
  const [opacity, setOpacity] = useState(0.6);
  const [lit, setLit] = useState<number>();
  return (
    <>
      <ImageView
        source={shown.input['base64']}
        size={size}
        over={() =>
          layers.map((layer, i) => (
            <MaskCanvas
              key={i}
              mask={layer.mask}
              n={i}
              opacity={lit === undefined || lit === i ? opacity : 0.05}
            />
          ))
        }
      />
      <label class="slider">
        opacity
        <input
          type="range"
          min={0}
          max={1}
          step={0.05}
          value={opacity}
          onInput={({ currentTarget }) => setOpacity(Number(currentTarget.value))}
        />
      </label>
      <ul class="rows">
        {layers.map(({ label, score }, i) => (
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
            {score !== undefined && <span class="score">{percent(score)}</span>}
          </li>
        ))}
      </ul>
    </>
  );
}

function MaskCanvas({ mask, n, opacity }: { mask: Layer['mask']; n: number; opacity: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    let isGone = false;
    void inkOf(mask).then(({ width, height, ink }) => {
      if (!isGone && canvas.current) paint(canvas.current, { width, height, ink, color: colorOf(n) });
    });
    return () => void (isGone = true);
  }, [mask, n]);
  return <canvas ref={canvas} class="over" style={{ opacity }} />;
}

interface Ink extends Size {
  /** 1 where the layer is. */
  ink: Uint8Array;
}

async function inkOf(mask: Layer['mask']): Promise<Ink> {
  if (typeof mask !== 'string')
    return { height: mask.length, width: mask[0]?.length ?? 0, ink: Uint8Array.from(mask.flat()) };
  const image = new Image();
  image.src = mask.startsWith('data:') ? mask : `data:image/png;base64,${mask}`;
  await image.decode();
  const { naturalWidth: width, naturalHeight: height } = image;
  const context = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d')!;
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  return {
    width,
    height,
    ink: Uint8Array.from({ length: width * height }, (_, i) => (data[4 * i]! > 127 ? 1 : 0)),
  };
}

function paint(canvas: HTMLCanvasElement, { width, height, ink, color }: Ink & { color: string }): void {
  Object.assign(canvas, { width, height });
  const context = canvas.getContext('2d')!;
  context.fillStyle = color;
  context.fillRect(0, 0, width, height);
  const pixels = context.getImageData(0, 0, width, height);
  ink.forEach((isIn, i) => (pixels.data[4 * i + 3] = isIn ? 255 : 0));
  context.putImageData(pixels, 0, 0);
}
