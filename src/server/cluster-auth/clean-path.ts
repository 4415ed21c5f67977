/**
 * Paths as the service wants them: without `//`, `.` and `..`. Others are answered with the address that was meant
 * (wire/cluster-auth 2.1).
 */

/** Where a URL with such a path leads, its query included; undefined for a path that is fine, or cannot be decoded. */
export function cleanedUrl(url: string): string | undefined {
  const [, encoded = '', query = ''] = /^([^?]*)(.*)$/s.exec(url) ?? [];
  const path = decoded(encoded);
  if (path === undefined) return undefined;
  const clean = cleaned(path);
  return clean === path ? undefined : `${clean.split('/').map(encodeSegment).join('/')}${query}`;
}

/** The path with its escapes replaced; undefined where they are broken. */
export function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** A slash at the end stays. */
function cleaned(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(segment);
  }
  return `/${kept.join('/')}${kept.length > 0 && path.endsWith('/') ? '/' : ''}`;
}

/** As the service's library does it: some reserved characters stay, some that need no escape get one. */
function encodeSegment(segment: string): string {
  return encodeURIComponent(segment)
    .replaceAll(/%(?:24|26|2B|2C|3A|3B|3D|40)/g, decodeURIComponent)
    .replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}
