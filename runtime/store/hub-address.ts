/** Address of a hub, with the credentials separated from what may be shown. */
export interface HubAddress {
  /** Without credentials and trailing slash; for requests and messages. */
  url: string;
  /** Value of the Authorization header, if the address has a user and a password. */
  authorization?: string;
}

/** Parses `https://user:password@mirror.example/path`. @throws TypeError for an invalid address */
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
