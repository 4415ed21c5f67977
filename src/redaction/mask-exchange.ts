/**
 * Masks requests and answers for `--trace`. Members of a body and links are masked if their name or form shows that they hold a secret,
 * headers unless they are known to be harmless. Secrets that this run knows are redacted elsewhere.
 */
import { isJsonObject, type Json } from '../model/json.ts';
import { secretPlaceholder } from './known-secrets.ts';
import { maskUrls, maskPrivateKeys } from './mask-text.ts';

/** Headers that hold no secret. For all others, only the name is shown. */
const harmlessHeader =
  /^(?:accept|content-type|content-encoding|server|via|allow|retry-after|age|x-ratelimit-\w+|x-(?:\w+-)?(?:namespace|request|request-id|next-page)|[\w-]+-version|\w+-appname)$/;

/** Headers whose name ends like that of a secret: they are masked even if `harmlessHeader` matches them. */
const secretHeader = /(?:^|-)(?:auth|token|secret|key|jwt|password|cookie|signature|credential)s?$/;

/** @param name in lower case */
export function maskHeader(name: string, value: string): string {
  if (name === 'location') return maskReference(value);
  if (name === 'link') return maskLinkHeader(value);
  if (!harmlessHeader.test(name) || secretHeader.test(name)) return secretPlaceholder;
  return maskTokens(value);
}

/** A word in a name that marks its value as a secret. */
const secretWord =
  /(?:^|_)(?:auth|tokens?|jwts?|bearer|pats?|[ht]?otps?|secrets?|passwords?|passwd|pwd|passphrase|passcode|credentials?|cookies?|authorization|signatures?|sig|hmac|accessors?|nonce|keys_(?:base|b)64|keys_hex|(?:connection|conn)_?str(?:ing)?s?|(?:private|api|access|encryption|signing|client|shared|unseal|root|recovery|hmac|ssh)_?keys?)(?:_|$)/;

/** Names with a secret word, but without a secret as the value. */
const harmlessName =
  /^token_(?:ttl|max_ttl|explicit_max_ttl|type|policies|period|num_uses|bound_cidrs|no_default_policy)$|^(?:auth_?type|authentication|oauth_token_id|disable_iss_validation|token_reviewer_jwt_set|ssh_key_(?:id|name|fingerprint)s?)$/;

/** Links with these names give access by themselves: to a state, a log, an upload. */
const signedLink =
  /(?:download|upload|read|signed|webhook|archivist|log)s?_(?:url|link|uri)s?$|(?:^|_)webhook/;

/** Converts a name to `snake_case` for comparison. */
function plainName(name: string): string {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .replaceAll(/[-.\s]+/g, '_')
    .toLowerCase();
}

function isSecretName(name: string): boolean {
  const plain = plainName(name);
  return (secretWord.test(plain) && !harmlessName.test(plain)) || signedLink.test(plain);
}

/** Lists of roles and tags have these names as well, so the form of the text decides. */
const keyName = /^keys?$/;

/** A key share: 16 or more bytes in hexadecimal form, or 24 or more in base64. */
const keyShare = /^(?:[\da-fA-F]{32,}|(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[\w+/-]{32,}={0,2})$/;

function maskKeyShares(value: Json): Json {
  if (typeof value === 'string') return keyShare.test(value) ? secretPlaceholder : maskText(value);
  return Array.isArray(value) ? value.map(maskKeyShares) : maskBody(value);
}

/** The body with each secret replaced. Numbers and booleans are kept: they are lifetimes and settings. */
export function maskBody(body: Json): Json {
  if (typeof body === 'string') return maskText(body);
  if (Array.isArray(body)) return body.map(maskBody);
  if (!isJsonObject(body)) return body;
  const isSensitive = body['sensitive'] === true;
  return Object.fromEntries(
    Object.entries(body).map(([name, member]) => {
      const isSecret = isSecretName(name) || (isSensitive && name === 'value');
      const mask = isSecret ? maskWhole : keyName.test(plainName(name)) ? maskKeyShares : maskBody;
      // A name may be a secret as well, such as in a map by token.
      return [maskTokens(name), mask(member)];
    }),
  );
}

/** Masks every text in a value, except members that hold no secret, such as the policies of a token. */
function maskWhole(value: Json): Json {
  if (typeof value === 'string') return value === '' ? '' : secretPlaceholder;
  if (Array.isArray(value)) return value.map(maskWhole);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      maskTokens(name),
      harmlessName.test(plainName(name)) ? maskBody(member) : maskWhole(member),
    ]),
  );
}

/** Forms of tokens that services give out. */
const tokens = new RegExp(
  [
    String.raw`eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?`,
    String.raw`\bhv[sbr]\.[\w-]{4,}|\b[sbr]\.[\w-]{20,}`,
    String.raw`\b\w+\.atlasv1\.[\w-]+`,
    String.raw`\bgh[a-z]_\w{16,}|\bgithub_pat_\w{16,}|\bgl[a-z]+-[\w-]{16,}`,
    String.raw`\bxox[a-z]-[\w-]{8,}|\bAKIA[A-Z\d]{16}\b`,
    String.raw`\b[Bb]earer\s+(?:(?=\S*\d)|(?=\S{8}))[\w.~+/-]+=*|\bBasic\s+(?=\S*[\d=])[\w+/-]{8,}=*`,
  ].join('|'),
  'g',
);

/** Replaces what looks like a token or a private key, wherever it is. */
function maskTokens(text: string): string {
  return maskPrivateKeys(text).replaceAll(tokens, secretPlaceholder);
}

/** Masks tokens and private keys, the secret parts of links, and values after the name of a secret. */
export function maskText(text: string): string {
  return maskPairs(maskTokens(maskLinks(text)));
}

/** A name with what separates it from its value: `"client_token": `, `password=`, `token&quot;:`. */
const pairName = /(?<![\w.-])([A-Za-z][\w.-]*)(?:\\?["'`]|&quot;|&#\d+;)?\s*(?:=>|[:=])\s*/g;

/** A value in quotes, which may lack the closing one; a list; or a word. */
const pairValue =
  /"(?:[^"\\]|\\.)*"?|'[^']*'?|\\".*?(?:\\"|$)|&quot;.*?(?:&quot;|$)|&#\d+;.*?(?:&#\d+;|$)|\[[^\]]*\]?|(?:(?:bearer|basic|token)\s+)?[^\s,;&<>"'{}[\]]+/isy;

/** Masks the values of secret names in a text of another form, such as damaged JSON, a query or a page. */
function maskPairs(text: string): string {
  let masked = '';
  let shown = 0;
  for (const { 0: pair, 1: name = '', index } of text.matchAll(pairName)) {
    pairValue.lastIndex = index + pair.length;
    const value = index < shown ? undefined : pairValue.exec(text)?.[0];
    if (value === undefined || !isSecretPair(name, value)) continue;
    masked += text.slice(shown, index + pair.length) + secretPlaceholder;
    shown = index + pair.length + value.length;
  }
  return masked + text.slice(shown);
}

function isSecretPair(name: string, value: string): boolean {
  if (isSecretName(name)) return true;
  return (
    keyName.test(plainName(name)) && (value.match(/[\w+/=-]+/g) ?? []).some((word) => keyShare.test(word))
  );
}

/** Parameters of lists in the query of a link: `page[number]=2`. */
const harmlessParameter = /^(?:page|filter|search|sort|include|since|limit|per_page|list|q)(?:\[|%5B|$)/i;

/** A generated part of a path that gives access by itself, as in the links of an object store. */
const longPart = /\/[\w.~%=+:-]{64,}(?=[/?#\s"'>]|$)/g;

/** Masks users, passwords, generated paths and parameters in each address of a text, but not the parameters of lists. */
export function maskLinks(text: string): string {
  if (!text.includes('//')) return text;
  return text
    .replaceAll(/[a-z][a-z\d+.-]*:\/\/[^\s"'<>]+/gi, (link) => {
      const [, path = link, query] = /^([^?#]*)\?([^#]*)$/.exec(link) ?? [];
      if (query === undefined) return maskUrls(link);
      return `${maskUrls(path)}?${maskQuery(query)}`;
    })
    .replaceAll(longPart, `/${secretPlaceholder}`);
}

function maskQuery(query: string): string {
  return query.replaceAll(/[^&;]+/g, (part) => {
    const [name = '', value] = part.split('=', 2);
    if (harmlessParameter.test(name)) return maskTokens(part);
    return value === undefined ? secretPlaceholder : `${maskTokens(name)}=${secretPlaceholder}`;
  });
}

/** Masks an address, or a reference that is relative to one: `/login?code=...`. */
function maskReference(reference: string): string {
  const query = /^[^?#]*\?([^#]*)/.exec(withoutUser(reference))?.[1];
  const fragment = reference.includes('#') ? `#${secretPlaceholder}` : '';
  return `${maskPlace(reference)}${query === undefined ? '' : `?${maskQuery(query)}`}${fragment}`;
}

/** Scheme, host and path of a reference, without a user, parameters and generated parts. */
export function maskPlace(reference: string): string {
  const place = withoutUser(reference).replace(/[?#].*$/s, '');
  const path = place.replaceAll(/;([^=;/]*)=[^;/]*/g, `;$1=${secretPlaceholder}`);
  return maskTokens(path.replaceAll(longPart, `/${secretPlaceholder}`));
}

/** Masks the user's part, which may contain a "?" that does not begin parameters. */
function withoutUser(reference: string): string {
  return reference.replace(/^([a-z][a-z\d+.-]*:)?\/\/[^/]*@/i, '$1//***@');
}

/** `</x?page=2>; rel="next", </x?page=9>; rel="last"` */
function maskLinkHeader(value: string): string {
  if (!value.includes('<')) return maskReference(value);
  return maskText(value.replaceAll(/<([^>]*)>?/g, (_, reference: string) => `<${maskReference(reference)}>`));
}
