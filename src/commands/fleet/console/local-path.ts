/** Where a user returns to after a login. */

/** Characters that fit into the cookie of a login. */
const longest = 1500;

/**
 * The path and query to return to. For anything but a path of this console, such as a foreign address in any form that browsers accept,
 * it is the first page.
 */
export function localPath(asked: unknown, origin: string): string {
  if (typeof asked !== 'string' || !asked.startsWith('/') || asked.length > longest) return '/';
  if (!URL.canParse(asked, origin)) return '/';
  const { origin: found, pathname, search } = new URL(asked, origin);
  // Without this, "/.//host" would become "//host", another host, and a login could return to the login.
  const isOwn =
    found === origin && !pathname.startsWith('//') && !/^\/(?:login|logout|signed-out)\b/.test(pathname);
  return isOwn && (pathname + search).length <= longest ? pathname + search : '/';
}
