import { useEffect, useState } from 'preact/hooks';

export interface Status {
  state: string;
  reason: string | null;
  /** Share of the download, 0 to 1. */
  progress: number | null;
}

const POLL_MS = 700;

/** State of the server, asked for until the model is ready or has failed; undefined before the first answer. */
export function useStatus(): Status | undefined {
  const [status, setStatus] = useState<Status>();
  useEffect(() => {
    let timer: number | undefined;
    let isGone = false;
    const ask = async () => {
      const found = await askStatus();
      if (isGone) return;
      setStatus(found);
      if (found.state !== 'ready' && found.state !== 'failed') timer = window.setTimeout(ask, POLL_MS);
    };
    void ask();
    return () => {
      isGone = true;
      window.clearTimeout(timer);
    };
  }, []);
  return status;
}

async function askStatus(): Promise<Status> {
  try {
    const response = await fetch('status');
    return ((await response.json()) as { output: Status }).output;
  } catch {
    return { state: 'unreachable', reason: 'the server does not answer', progress: null };
  }
}
