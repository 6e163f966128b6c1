import { useEffect, useState } from 'preact/hooks';
import { Waveform } from './waveform.js';

/** Shows a medium of this page: a data URL, or bytes that have come. */
export function Medium({ source, kind }: { source: string | Blob; kind: string }) {
  const address = useAddress(source);
  if (address === '') return null;
  if (kind === 'image') return <img class="medium" src={address} alt="" />;
  if (kind === 'audio')
    return (
      <>
        <Waveform source={source} />
        <audio class="medium" controls src={address} aria-label="audio" />
      </>
    );
  return <video class="medium" controls loop muted src={address} aria-label="video" />;
}

/** An address for bytes, which is given back when they are shown no longer. */
export function useAddress(source: string | Blob): string {
  const [address, setAddress] = useState('');
  useEffect(() => {
    if (typeof source === 'string') return setAddress(source);
    const made = URL.createObjectURL(source);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [source]);
  return address;
}

/** image, audio or video; undefined for another type. */
export function kindOf(type: string): string | undefined {
  return ['image', 'audio', 'video'].find((kind) => type.startsWith(`${kind}/`));
}
