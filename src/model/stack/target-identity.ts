/**
 * What a target *is* (rule 37). A target's name is only a word of the stack's: tomorrow the same word may stand for
 * another place, and what was recorded of the one proves nothing about the other. Everything that has to know whether two
 * places are one asks here.
 */
import type { Service, Target } from './target.ts';

export interface TargetIdentity {
  readonly service: Service;
  /** `embedded`, or the address in its one normal spelling */
  readonly url: string;
  /** the organization, whose name has no case, in lower case; or the mount as one path with its namespace: `auth/cluster`, `platform/auth/cluster` */
  readonly place: string;
}

/** `workspaces acme at https://app.example.com`: equal texts are one place, for neither service nor URL holds a space. */
export type IdentityText = string;

type Where = Pick<Target, 'service' | 'url' | 'organization' | 'mount' | 'namespace'>;

export function identityOf({ service, url, organization, mount, namespace }: Where): TargetIdentity {
  const place =
    service === 'workspaces' ? (organization ?? '').toLowerCase() : mountPlace(mount ?? '', namespace ?? '');
  return { service, url: normalUrl(url), place };
}

export function formatIdentity({ service, url, place }: TargetIdentity): IdentityText {
  return `${service} ${place} at ${url}`;
}

/** A namespace in the header and one in front of the path lead to the same mount (wire/cluster-auth 2.1). */
function mountPlace(mount: string, namespace: string): string {
  const segments = [...segmentsOf(namespace), 'auth', ...segmentsOf(mount)];
  return (segments[0] === 'root' ? segments.slice(1) : segments).join('/');
}

function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}

/** One spelling for one address: scheme and host in lower case, no default port, no dot or slash at the end. */
function normalUrl(url: string): string {
  if (url === 'embedded' || !URL.canParse(url)) return url;
  const { protocol, hostname, port, pathname } = new URL(url);
  const host = `${hostname.replace(/\.$/, '')}${port === '' ? '' : `:${port}`}`;
  return `${protocol}//${host}${pathname.replace(/\/+$/, '')}`;
}
