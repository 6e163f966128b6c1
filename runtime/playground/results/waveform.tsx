import { useEffect, useRef } from 'preact/hooks';

const [WIDTH, HEIGHT] = [800, 80];

/** The loudness of an audio clip over its time. An audio clip that the browser can't decode has none. */
export function Waveform({ source }: { source: string | Blob }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    let isShown = true;
    const show = async () => {
      const peaks = peaksOf(await samplesOf(source), WIDTH);
      if (isShown && canvas.current) draw(canvas.current, peaks);
    };
    show().catch(() => canvas.current?.remove());
    return () => void (isShown = false);
  }, [source]);
  return (
    <canvas
      ref={canvas}
      class="wave"
      width={WIDTH}
      height={HEIGHT}
      role="img"
      aria-label="loudness over time"
    />
  );
}

/** Samples of the first channel. @throws where the browser can't decode them */
async function samplesOf(source: string | Blob): Promise<Float32Array> {
  const bytes = typeof source === 'string' ? bytesOf(source) : await source.arrayBuffer();
  // It decodes at its own rate, whatever its length.
  const audio = await new OfflineAudioContext(1, 1, 44_100).decodeAudioData(bytes);
  return audio.getChannelData(0);
}

/** Bytes of a data URL in Base64, which the page's policy lets nobody fetch. */
function bytesOf(url: string): ArrayBuffer {
  const text = atob(url.slice(url.indexOf(',') + 1));
  return Uint8Array.from(text, (letter) => letter.codePointAt(0)!).buffer;
}

/** The loudest sample of each of `count` parts, as shares of the loudest of all. */
function peaksOf(samples: Float32Array, count: number): number[] {
  const part = Math.max(1, samples.length / count);
  const peaks = Array.from({ length: Math.min(count, samples.length) }, (_, i) => {
    let most = 0;
    for (let at = Math.floor(i * part); at < Math.floor((i + 1) * part); at++)
      most = Math.max(most, Math.abs(samples[at] ?? 0));
    return most;
  });
  const loudest = peaks.reduce((most, peak) => Math.max(most, peak), 0) || 1;
  return peaks.map((peak) => peak / loudest);
}

function draw(canvas: HTMLCanvasElement, peaks: readonly number[]): void {
  const context = canvas.getContext('2d')!;
  context.clearRect(0, 0, WIDTH, HEIGHT);
  context.fillStyle = getComputedStyle(canvas).color;
  const step = WIDTH / peaks.length;
  peaks.forEach((peak, i) => {
    const height = Math.max(1, peak * HEIGHT);
    context.fillRect(i * step, (HEIGHT - height) / 2, Math.max(1, step - 0.5), height);
  });
}
