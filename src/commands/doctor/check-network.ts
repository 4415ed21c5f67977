/**
 * The checks of the connection to a target, in the order of a connection: name, proxy, certificate, the service that answers, and its
 * clock. No token is sent.
 */
import { organizationPath } from '../../api/workspaces/organization.ts';
import type { ProbeConnection } from '../../api/probe-target.ts';
import { ProxyError } from '../../api/transport/proxy.ts';
import { errorCodes } from '../../api/transport/explain-failure.ts';
import type { NetworkFacts } from '../../api/transport/network-facts.ts';
import { type Answer, describeAnswer, WireError } from '../../model/http.ts';
import { memberOf } from '../../model/json.ts';
import { counted, quoted } from '../../model/quoted.ts';
import type { Target } from '../../model/stack.ts';
import { formatDuration } from '../../model/duration.ts';
import { tlsFinding, tlsProblem } from './check-tls.ts';
import { type Finding, failed, hasFailed, info, ok, warning } from './finding.ts';

interface NetworkQuestion {
  readonly target: Target;
  readonly probe: ProbeConnection;
  /** milliseconds since 1970 */
  readonly now: number;
}

/** Makes the checks in order, and stops after the first one that fails. */
export async function checkNetwork(question: NetworkQuestion): Promise<Finding[]> {
  const { target, probe, now } = question;
  const url = new URL(target.url);
  try {
    const facts = await probe.inspectNetwork();
    const reached = [...addressFindings(url, facts), ...tlsFinding(target, facts, now)];
    if (hasFailed(reached)) return reached;
    const answered = await checkAnswer(question, facts);
    const replacesEarlier = answered.some(({ check }) => check === 'tls' || check === 'proxy');
    return [
      ...(replacesEarlier
        ? reached.filter(({ check }) => !answered.some((one) => one.check === check))
        : reached),
      ...answered,
    ];
  } catch (error) {
    if (!(error instanceof ProxyError)) throw error;
    return [invalidProxy(error)];
  }
}

export function invalidProxy({ message }: ProxyError): Finding {
  const [what = message, fix = 'correct it'] = message.split('; ');
  return failed('proxy', { id: 'proxy-invalid', message: what, fix });
}

function addressFindings(url: URL, { proxy, addresses, failure }: NetworkFacts): Finding[] {
  const host = quoted(url.host);
  if (proxy !== undefined) {
    const problem = failure && proxyProblem(proxy, failure);
    if (problem !== undefined) return [problem];
    return [
      ok('address', `${host}, whose name the proxy resolves`),
      ok('proxy', `${quoted(proxy.address)}, from the variable ${quoted(proxy.variable)}`),
    ];
  }
  if (failure !== undefined && failure.at !== 'tls') return [addressProblem(url, failure)];
  const [first = '', ...more] = addresses;
  const others = more.length === 0 ? '' : ` and ${more.length} more`;
  const resolved = first === url.hostname.replace(/^\[|\]$/g, '') ? '' : ` is ${first}${others}`;
  return [ok('address', `${host}${resolved}`), ok('proxy', 'none')];
}

type NetworkFailure = NonNullable<NetworkFacts['failure']>;

function addressProblem({ hostname, host }: URL, { at, code }: NetworkFailure): Finding {
  const fixUrl = 'check the host and the port in the "url" of the target, and that the service is up';
  if (at === 'name')
    return code === 'ENOTFOUND'
      ? failed('address', {
          id: 'name-unknown',
          message: `there is no host with the name ${quoted(hostname)}`,
          fix: 'correct the "url" of the target; for a name of an internal network, connect to it (VPN), or set HTTPS_PROXY',
        })
      : failed('address', {
          id: 'name-unresolved',
          message: `the name ${quoted(hostname)} could not be resolved (${code})`,
          fix: 'check the DNS server of this machine',
        });
  if (code === 'ECONNREFUSED')
    return failed('address', {
      id: 'connection-refused',
      message: `nothing listens at ${quoted(host)}: the connection was refused`,
      fix: fixUrl,
    });
  if (/^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/.test(code))
    return failed('address', {
      id: 'connection-timeout',
      message: `${quoted(host)} cannot be reached (${code})`,
      fix: 'check the network and the firewall, and whether a proxy is needed (HTTPS_PROXY)',
    });
  return failed('address', {
    id: 'connection-failed',
    message: `no connection to ${quoted(host)} (${code})`,
    fix: fixUrl,
  });
}

function proxyProblem(
  { address, variable }: NonNullable<NetworkFacts['proxy']>,
  { at, code }: NetworkFailure,
): Finding {
  const from = `the proxy ${quoted(address)} from the variable ${quoted(variable)}`;
  const fix = `correct or unset ${variable}; if the service is reached without a proxy, add its host to NO_PROXY`;
  return at === 'name'
    ? failed('proxy', {
        id: 'proxy-name-unknown',
        message: `the name of ${from} cannot be resolved (${code})`,
        fix,
      })
    : failed('proxy', { id: 'proxy-unreachable', message: `${from} cannot be reached (${code})`, fix });
}

// The service that answers at the address. The requests have no token.

/** Asks for status 200 in every state, because 429 and 503 mean something else to a client (wire/cluster-auth 2.9). */
const healthPath = `/sys/health?${[
  'standbycode',
  'performancestandbycode',
  'drsecondarycode',
  'sealedcode',
  'uninitcode',
]
  .map((state) => `${state}=200`)
  .join('&')}`;

async function checkAnswer(question: NetworkQuestion, facts: NetworkFacts): Promise<Finding[]> {
  const { target, probe } = question;
  try {
    const answer = await probe.get(target.service === 'workspaces' ? '/ping' : healthPath);
    // A service without this path may answer with a web page.
    const decisive = isPage(answer) && answer.status === 404 ? await probe.get(secondPath(target)) : answer;
    const service = serviceFinding(target, decisive);
    const isTrusted = facts.proxy !== undefined && new URL(target.url).protocol === 'https:';
    return [
      ...(isTrusted ? [ok('tls', 'the certificate is trusted')] : []),
      service,
      ...(hasFailed([service]) ? [] : [clockFinding(probe.clockAhead())]),
    ];
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return [requestProblem(error, target, facts)];
  }
}

function secondPath(target: Target): string {
  return target.service === 'workspaces' ? organizationPath({ target }) : '/sys/seal-status';
}

/** Whether the answer is a web page: `words` says so for a body that is not JSON. */
function isPage({ body, words }: Answer): boolean {
  return body === null && words.startsWith('a page ');
}

function serviceFinding(target: Target, answer: Answer): Finding {
  const { status } = answer;
  const described = describeAnswer(answer);
  if (status === 407) return proxyLogin(described);
  if (status >= 300 && status < 400)
    return failed('service', {
      id: 'service-redirects',
      message: described.replace(/; set the target's "url".*$/, ''),
      fix: 'set the "url" of the target to the address of the service itself: a token is never sent on to another address',
    });
  if (isPage(answer) && status < 500) return foreignAnswer(described);
  if (target.service === 'cluster-auth') {
    const problem = sealProblem(answer);
    if (problem !== undefined) return problem;
  }
  if (status >= 500)
    return failed('service', {
      id: 'service-failing',
      message: described,
      fix: 'look at the state and the log of the service, or of the gateway in front of it; then try again',
    });
  return ok('service', answer.hosted === true ? 'answers; it is the hosted edition' : 'answers');
}

function foreignAnswer(described: string): Finding {
  return failed('service', {
    id: 'service-foreign',
    message: described.replace(/; check that the target's "url".*$/, ''),
    fix: 'this is not an answer of the service: correct the "url" of the target; if a login page or a proxy answers, log in there, or add the host to NO_PROXY',
  });
}

/** The problem that the health of a secrets service shows; undefined if it works, or shows nothing. */
function sealProblem({ body }: Answer): Finding | undefined {
  if (memberOf(body, 'initialized') === false)
    return failed('service', {
      id: 'service-uninitialized',
      message: 'the service is not initialized',
      fix: 'initialize and unseal it',
    });
  if (memberOf(body, 'sealed') === true)
    return failed('service', {
      id: 'service-sealed',
      message: 'the service is sealed, and answers nothing until it is unsealed',
      fix: 'unseal it; if that should happen by itself, check its seal configuration and log',
    });
  if (memberOf(body, 'replication_dr_mode') === 'secondary')
    return failed('service', {
      id: 'service-standby',
      message: 'this is a secondary for disaster recovery, which serves no requests',
      fix: 'set the "url" of the target to the primary',
    });
  if (memberOf(body, 'standby') === true)
    return info('service', {
      id: 'service-standby',
      message: 'this node is a standby, which passes requests on to the active one',
    });
  return undefined;
}

function requestProblem(error: WireError, target: Target, { proxy }: NetworkFacts): Finding {
  const { message, cause } = error;
  const codes = errorCodes(cause);
  const tls = codes.map((code) => tlsProblem(code, { target })).find((found) => found !== undefined);
  if (tls !== undefined) return tls;
  if (proxy !== undefined && /\b407\b/.test(String(cause))) return proxyLogin(message);
  if (proxy !== undefined && codes.some((code) => /^UND_ERR_(PRX|ABORTED)/.test(code)))
    return failed('proxy', {
      id: 'proxy-refused',
      message,
      fix: `allow the host on the proxy; if the service is reached without it, add its host to NO_PROXY`,
    });
  // An answer came, but it is not JSON, or not HTTP.
  if (cause === undefined || codes.includes('ANSWER_TOO_LARGE') || /HPE_/.test(codes.join()))
    return foreignAnswer(message);
  return failed('service', {
    id: 'service-failing',
    message,
    fix: 'check that the service is up, and try again',
  });
}

function proxyLogin(message: string): Finding {
  return failed('proxy', {
    id: 'proxy-login',
    message: `the proxy wants a login (407): ${message}`,
    fix: 'write user name and password into the variable, such as http://USER:PASSWORD@proxy.internal:3128',
  });
}

// The clock.

/** In milliseconds. A smaller difference is not reported, because it has no consequences. */
const tolerated = 5_000;

function clockFinding(ahead: number | undefined): Finding {
  if (ahead === undefined)
    return info('clock', { id: 'clock-unknown', message: 'not checked: the answers have no "Date" header' });
  const seconds = Math.round(Math.abs(ahead) / 1000);
  if (Math.abs(ahead) < tolerated)
    return ok(
      'clock',
      seconds === 0
        ? 'the same as that of the service'
        : `within ${counted(seconds, 'second')} of the service`,
    );
  return warning('clock', {
    id: 'clock-differs',
    message: `the clock of this machine is ${formatDuration(seconds)} ${ahead > 0 ? 'behind' : 'ahead of'} that of the service`,
    fix: 'synchronize the clocks (NTP): logins, expiries, ages of locks and the times of audit events depend on them',
  });
}
