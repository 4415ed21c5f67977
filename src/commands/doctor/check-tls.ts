/** Checks the certificate of a target: from the facts of a connection or, behind a proxy, from the error of a request. */
import type { Certificate, NetworkFacts } from '../../api/transport/network-facts.ts';
import { clearText } from '../../model/http.ts';
import { quoted, quoteSome } from '../../model/quoted.ts';
import type { Target } from '../../model/stack.ts';
import { type Finding, failed, ok, warning } from './finding.ts';

/** A certificate that expires within this many milliseconds expires soon. */
const soon = 14 * 24 * 3600_000;

/** @param now milliseconds since 1970 */
export function tlsFinding(
  target: Target,
  { proxy, failure, certificate }: NetworkFacts,
  now: number,
): Finding[] {
  const { protocol, hostname, host } = new URL(target.url);
  if (failure !== undefined && failure.at !== 'tls') return [];
  if (protocol === 'http:') return [withoutTls(hostname)];
  // Only an answer through the proxy shows whether the certificate is trusted (check-network.ts).
  if (proxy !== undefined) return [];
  if (failure !== undefined)
    return [tlsProblem(failure.code, { target, certificate }) ?? unknownProblem(host, failure.code)];
  if (certificate === undefined) return [];
  const { issuer, validTo } = certificate;
  const until = dayOf(validTo);
  if (validTo - now < soon)
    return [
      warning('tls', {
        id: 'tls-expires-soon',
        message: `the certificate of ${quoted(host)} expires soon, on ${until}`,
        fix: 'renew it',
      }),
    ];
  return [ok('tls', `certificate of ${quoted(issuer)}, valid until ${until}`)];
}

function withoutTls(hostname: string): Finding {
  if (/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname))
    return ok('tls', 'not used: the service is on this machine');
  return warning('tls', { id: 'tls-not-used', ...clearText });
}

interface TlsContext {
  readonly target: Target;
  readonly certificate?: Certificate | undefined;
}

type Explanation = (context: TlsContext & { readonly host: string }) => Finding;

const untrusted: Explanation = ({ target, certificate, host }) =>
  failed('tls', {
    id: 'tls-untrusted',
    message: `the certificate of ${quoted(host)} is signed by an authority that is not known here${
      certificate === undefined ? '' : `: ${quoted(certificate.issuer)}`
    }`,
    fix:
      target.caCert === undefined
        ? 'name a file with the certificate of the authority in NODE_EXTRA_CA_CERTS, or as "caCert: { file: … }" of the target'
        : `${quoted(target.caCert.file)}, the "caCert" of the target, must hold the certificate of that authority`,
  });

const notTls: Explanation = ({ host }) =>
  failed('tls', {
    id: 'tls-missing',
    message: `${quoted(host)} does not speak TLS`,
    fix: 'check the port; if the service has no TLS, begin the "url" of the target with "http://"',
  });

const unusableCa: Explanation = ({ target }) =>
  failed('tls', {
    id: 'tls-ca-unusable',
    message: `${quoted(target.caCert?.file ?? '')}, the "caCert" of the target, holds no PEM certificate`,
    fix: 'give the certificate of the authority in PEM format',
  });

/** Explanations by error code. */
const problems: Readonly<Record<string, Explanation>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  CERT_SIGNATURE_FAILURE: untrusted,
  CERT_HAS_EXPIRED: ({ host, certificate }) =>
    failed('tls', {
      id: 'tls-expired',
      message: `the certificate of ${quoted(host)} has expired${certificate === undefined ? '' : `, on ${dayOf(certificate.validTo)}`}`,
      fix: 'renew it; if it is valid, correct the clock of this machine',
    }),
  CERT_NOT_YET_VALID: ({ host }) =>
    failed('tls', {
      id: 'tls-not-yet-valid',
      message: `the certificate of ${quoted(host)} is not valid yet`,
      fix: 'correct the clock of this machine',
    }),
  ERR_TLS_CERT_ALTNAME_INVALID: ({ host, certificate }) =>
    failed('tls', {
      id: 'tls-wrong-host',
      message: `the certificate of ${quoted(host)} is for other names${certificate === undefined ? '' : `: ${quoteSome(certificate.names, 3)}`}`,
      fix: 'use one of the names of the certificate in the "url" of the target, or give the service a certificate for this one',
    }),
  ERR_SSL_WRONG_VERSION_NUMBER: notTls,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: notTls,
  EPROTO: notTls,
  ERR_OSSL_PEM_NO_START_LINE: unusableCa,
  ERR_OSSL_PEM_BAD_BASE64_DECODE: unusableCa,
};

/** @returns undefined for an error that is not about TLS */
export function tlsProblem(code: string, context: TlsContext): Finding | undefined {
  return problems[code]?.({ ...context, host: new URL(context.target.url).host });
}

function unknownProblem(host: string, code: string): Finding {
  return failed('tls', {
    id: 'tls-failed',
    message: `no TLS connection to ${quoted(host)} (${code})`,
    fix: 'check that the service speaks TLS at this port, and which versions of TLS and client certificates it demands',
  });
}

/** `2027-01-31` */
function dayOf(milliseconds: number): string {
  return Number.isNaN(milliseconds) ? 'an unknown day' : new Date(milliseconds).toISOString().slice(0, 10);
}
