/** Whether a text can be the address of a PostgreSQL database. Judged before anybody is asked for it; repeats nothing of it. */

const form = 'postgres://USER:PASSWORD@HOST:PORT/DATABASE';

/** What is wrong with an address and what to write, or undefined. */
export function whyNoAddress(address: string): string | undefined {
  if (!/^postgres(?:ql)?:\/\//i.test(address)) return `it does not begin with "postgres://"; write ${form}`;
  if (!URL.canParse(address))
    return `it is no valid URL; write ${form}, and percent-encode what is special in a URL, such as "/" as %2F and "@" as %40`;
  return undefined;
}
