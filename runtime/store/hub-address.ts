/** Address of a hub, taken apart: what may be shown, and what may not. */
export interface HubAddress {
  /** Without credentials and without a slash at its end: for requests and messages. */
  url: string;
  /** Value of the Authorization header for requests to it, where the address held a user and a password. */
  authorization?: string;
}

/** Reads `https://user:password@mirror.example/path`. @throws TypeError for what is no address */
export function hubAddress(text: string): HubAddress {
  const url = new URL(text);
  const { username, password } = url;
  if (username === '' && password === '') return { url: text.replace(/\/+$/, '') };
  url.username = '';
  url.password = '';
  const pair = [username, password].map(decodeURIComponent).join(':');
  const authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
  return { url: url.href.replace(/\/+$/, ''), authorization };
}
