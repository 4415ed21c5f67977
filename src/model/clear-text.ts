/** Whether an address sends a token where others may read it: by plain HTTP to a host outside of this machine and of private networks. */

const privateNames = /^[^.]+$|(?:^|\.)(?:localhost|internal|local|lan|home\.arpa)$/;
const privateV4 = /^(?:127|10)\.|^192\.168\.|^169\.254\.|^172\.(?:1[6-9]|2\d|3[01])\./;
const privateV6 = /^\[(?:::1\]|f[cd]|fe[89ab])/;

/** @param url of a target; `embedded` sends nothing over a network */
export function sendsInClear(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'http:') return false;
  if (hostname.startsWith('[')) return !privateV6.test(hostname);
  return !(privateNames.test(hostname) || privateV4.test(hostname));
}

export const clearText = {
  message: 'the address begins with "http://", so the token is sent without encryption',
  fix: 'use "https://" in the "url" of the target',
};
