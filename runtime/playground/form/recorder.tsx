import { useEffect, useRef, useState } from 'preact/hooks';

/** Records an audio clip or a video, or takes an image, where the browser lets this page. */
export function Recorder({ kind, onRecorded }: { kind: string; onRecorded(blob: Blob): void }) {
  const [stop, setStop] = useState<() => void>();
  const [problem, setProblem] = useState('');
  const opened = useRef<MediaStream>(undefined);
  useEffect(() => () => release(opened.current), []);
  if (!navigator.mediaDevices?.getUserMedia) return null;
  const start = async () => {
    setProblem('');
    try {
      const stream = await navigator.mediaDevices.getUserMedia({
        audio: kind !== 'image',
        video: kind !== 'audio',
      });
      opened.current = stream;
      if (kind === 'image') {
        onRecorded(await imageOf(stream));
        return release(stream);
      }
      const recorder = new MediaRecorder(stream);
      const pieces: Blob[] = [];
      recorder.addEventListener('dataavailable', ({ data }) => pieces.push(data));
      recorder.addEventListener('stop', () => {
        release(stream);
        setStop(undefined);
        onRecorded(new Blob(pieces, { type: recorder.mimeType }));
      });
      recorder.start();
      setStop(() => () => recorder.stop());
    } catch (error) {
      release(opened.current);
      setProblem((error as Error).message);
    }
  };
  const name = kind === 'audio' ? 'microphone' : 'camera';
  return (
    <>
      <button type="button" class="quiet" onClick={() => (stop ? stop() : void start())}>
        {stop ? 'Stop recording' : `Use the ${name}`}
      </button>
      {problem && <small role="alert">{problem}</small>}
    </>
  );
}

function release(stream: MediaStream | undefined): void {
  for (const track of stream?.getTracks() ?? []) track.stop();
}

async function imageOf(stream: MediaStream): Promise<Blob> {
  const video = document.createElement('video');
  video.srcObject = stream;
  video.muted = true;
  await video.play();
  const canvas = document.createElement('canvas');
  canvas.width = video.videoWidth;
  canvas.height = video.videoHeight;
  canvas.getContext('2d')!.drawImage(video, 0, 0);
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      (blob) => (blob ? resolve(blob) : reject(new Error('the camera gave no image'))),
      'image/png',
    ),
  );
}
