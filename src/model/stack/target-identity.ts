/**
 * The identity of a target (rule 37). A target's name is chosen by the stack and may later stand for another place, about
 * which the old records prove nothing. Only this file decides whether two targets are the same place.
 */
import type { Service, Target } from './target.ts';

export interface TargetIdentity {
  readonly service: Service;
  /** `embedded`, or the normalized address */
  readonly url: string;
  /** the organization in lower case, as its name is case-insensitive; or namespace and mount as one path: `platform/auth/cluster` */
  readonly place: string;
}

/** `workspaces acme at https://app.example.com`: equal texts mean the same place, because service and URL contain no space. */
export type IdentityText = string;

type TargetAddress = Pick<Target, 'service' | 'url' | 'organization' | 'mount' | 'namespace'>;

export function identityOf({ service, url, organization, mount, namespace }: TargetAddress): TargetIdentity {
  const place =
    service === 'workspaces' ? (organization ?? '').toLowerCase() : mountPlace(mount ?? '', namespace ?? '');
  return { service, url: normalUrl(url), place };
}

export function formatIdentity({ service, url, place }: TargetIdentity): IdentityText {
  return `${service} ${place} at ${url}`;
}

/** A namespace in the header and one at the start of the path lead to the same mount (wire/cluster-auth 2.1). */
function mountPlace(mount: string, namespace: string): string {
  const segments = [...segmentsOf(namespace), 'auth', ...segmentsOf(mount)];
  return (segments[0] === 'root' ? segments.slice(1) : segments).join('/');
}

function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}

/** Normalizes an address: scheme and host in lower case, no default port, no dot or slash at the end. */
function normalUrl(url: string): string {
  if (url === 'embedded' || !URL.canParse(url)) return url;
  const { protocol, hostname, port, pathname } = new URL(url);
  const host = `${hostname.replace(/\.$/, '')}${port === '' ? '' : `:${port}`}`;
  return `${protocol}//${host}${pathname.replace(/\/+$/, '')}`;
}
