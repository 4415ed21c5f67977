/**
 * The names that a cluster can give: DNS labels to namespaces, DNS subdomains to service accounts, labels to namespaces. The secrets
 * service takes any text, but a role with another name can never admit anybody by it.
 */

const label = '[a-z0-9](?:[a-z0-9-]*[a-z0-9])?';
const dnsLabel = new RegExp(`^${label}$`);
const dnsSubdomain = new RegExp(`^${label}(?:\\.${label})*$`);
const labelText = /^[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?$/;

const maxLabel = 63;
const maxSubdomain = 253;

export const namespaceNames = 'lower-case letters, digits and "-" inside, at most 63 characters';
export const accountNames = 'lower-case letters, digits, "-" and "." inside, at most 253 characters';

/** Whether a namespace can have a name that matches this pattern. */
export function canNameNamespace(pattern: string): boolean {
  return canMatch(pattern, dnsLabel, maxLabel);
}

/** Whether a service account can have a name that matches this pattern. */
export function canNameAccount(pattern: string): boolean {
  return canMatch(pattern, dnsSubdomain, maxSubdomain);
}

/** Each `*` may stand for nothing, or for a letter: if neither makes a name, nothing does. */
function canMatch(pattern: string, names: RegExp, longest: number): boolean {
  const pieces = pattern.split('*');
  return ['', 'a'].some((between) => {
    const name = pieces.join(between);
    return name.length <= longest && names.test(name);
  });
}

/** Whether a namespace can have this label. */
export function canLabelNamespace(key: string, value: string): boolean {
  const [name = '', prefix, ...more] = key.split('/').toReversed();
  const isPrefix = prefix === undefined || (prefix.length <= maxSubdomain && dnsSubdomain.test(prefix));
  return more.length === 0 && isPrefix && isLabelText(name) && (value === '' || isLabelText(value));
}

function isLabelText(text: string): boolean {
  return text.length <= maxLabel && labelText.test(text);
}
