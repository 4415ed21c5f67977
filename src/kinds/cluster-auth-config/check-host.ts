/**
 * The lint of a config's host: the service takes any text and puts it in front of `/apis/…` as it stands, so what leads to no
 * API server is seen at the first login only (wire/cluster-auth 1.6). No message repeats the host, which may hold a password.
 */
import type { ResourceProblem } from '../../model/kind/kind.ts';
import { quoted } from '../../model/quoted.ts';
import type { ConfigSpec } from './schema.ts';

interface Fault {
  readonly code: 'host-without-scheme' | 'unusable-host' | 'login-in-host';
  readonly isIn: (host: string) => boolean;
  readonly message: string;
}

/** The first that holds is told; a host without any is sound. */
const faults: readonly Fault[] = [
  {
    code: 'unusable-host',
    isIn: (host) => /[\s\p{Cc}]/u.test(host),
    message: 'has white space in it: the service accepts it, and then every login fails',
  },
  {
    code: 'unusable-host',
    isIn: (host) => /^https?:(?!\/\/)/i.test(host) && !/^https?:\d+$/i.test(host),
    message: 'has no "//" behind its scheme: the service accepts it, and then every login fails',
  },
  {
    code: 'unusable-host',
    isIn: (host) => /^(?!https?:)[a-z][a-z0-9+.-]*:\/\//i.test(host),
    message: 'is no http(s) address: the service accepts it, and then every login fails',
  },
  {
    code: 'host-without-scheme',
    isIn: (host) => !/^https?:\/\//i.test(host),
    message: 'has no scheme: the service accepts it, and then every login fails',
  },
  {
    code: 'unusable-host',
    isIn: (host) => /[?#]/.test(host),
    message: 'has a query or fragment, which swallows the path of the API: every login fails',
  },
  {
    code: 'unusable-host',
    isIn: (host) => !/^https?:\/\/[^/\\]+(?:\/[^\\]*)?$/i.test(host) || !URL.canParse(host),
    message: 'names no host that can be reached: the service accepts it, and then every login fails',
  },
  {
    code: 'login-in-host',
    isIn: (host) => /^https?:\/\/[^/]*@/i.test(host),
    message:
      'holds a user name or password: no login of the service uses it, and all who read the config see it',
  },
];

export function hostProblems({ clusterHost: host }: ConfigSpec): ResourceProblem[] {
  if (typeof host !== 'string' || host === '') return [];
  const fault = faults.find(({ isIn }) => isIn(host));
  if (fault === undefined) return [];
  const { code, message } = fault;
  return [
    {
      code,
      severity: 'warning',
      path: ['clusterHost'],
      message: `"clusterHost" ${message}`,
      fix: fixOf(host),
    },
  ];
}

/** What was probably meant, if that is sound. */
function fixOf(host: string): string {
  const [, scheme = '', rest = ''] =
    /^(https?:(?!\d+$)|[a-z][a-z0-9+.-]*:(?=\/\/))?[/\\]*(.*)$/is.exec(host.trim()) ?? [];
  const address = rest.replace(/[?#].*$/s, '').replace(/^[^/]*@/, '');
  const meant = `${scheme.toLowerCase() === 'http:' ? 'http' : 'https'}://${address}`;
  return faults.some(({ isIn }) => isIn(meant))
    ? 'write the address of the API server, such as "https://10.0.0.1:6443"'
    : `write ${quoted(meant)}`;
}
