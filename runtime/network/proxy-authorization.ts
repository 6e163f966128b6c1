/** Value of Proxy-Authorization, if the address of the proxy has a user or a password. */
export function proxyAuthorization({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  const pair = [username, password].map(decodeURIComponent).join(':');
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}
