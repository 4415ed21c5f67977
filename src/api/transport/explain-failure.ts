/**
 * Explains why a request has no answer, and what to do. A permanent failure is one that another attempt cannot fix, such as a host
 * name that does not exist or a certificate that is not trusted.
 */
import { quoted } from '../../model/quoted.ts';

export interface FailureContext {
  /** host and port of the target */
  readonly host: string;
  /** the proxy that the environment sets, without credentials */
  readonly proxy?: string;
  /** the setting that holds the address, if it is not the "url" of a target */
  readonly address?: string;
  /** the limits of an exchange */
  readonly seconds: {
    readonly connect: number;
    readonly headers: number;
    readonly body: number;
    readonly answer: number;
  };
}

interface Failure {
  readonly message: string;
  readonly isPermanent: boolean;
}

interface ExplainInput extends FailureContext {
  readonly address: string;
  readonly detail: string;
  /** the name that could not be resolved, if that was the error */
  readonly name?: string | undefined;
}

/** The setting that holds the address of a target. */
export const targetAddress = 'the target\'s "url"';

type Explanation = (input: ExplainInput) => string;

/** Whether the name that could not be resolved is that of the proxy. */
const isProxyName = ({ proxy, name }: ExplainInput): boolean =>
  proxy !== undefined && name !== undefined && new URL(proxy).hostname === name;

const unknownAuthority: Explanation = ({ host, address }) =>
  `the certificate of ${quoted(host)} is signed by an authority that is not known here; ${
    address === targetAddress
      ? 'give the authority\'s certificate as "caCert" of the target'
      : "name a file with the authority's certificate in NODE_EXTRA_CA_CERTS"
  }`;
const unreachable: Explanation = ({ host, proxy, seconds }) =>
  `no connection to ${quoted(host)} within ${seconds.connect} s; check the network, the firewall and ${
    proxy === undefined ? 'whether a proxy is needed (HTTPS_PROXY)' : `the proxy ${quoted(proxy)}`
  }`;
const broke: Explanation = ({ host }) =>
  `the connection to ${quoted(host)} broke before the answer was complete`;
const noTls: Explanation = ({ host, address }) =>
  `${quoted(host)} does not speak TLS; check whether ${address} should begin with "http://"`;
const badCaCert: Explanation = () =>
  'the file given as "caCert" holds no PEM certificate; give one in PEM format';
const proxyFailed: Explanation = ({ proxy, detail }) =>
  `the proxy ${quoted(proxy ?? '')} did not open a connection to the service (${detail}); check HTTPS_PROXY and NO_PROXY`;

/** Temporary failures, by the code of the error. */
const temporary: Readonly<Record<string, Explanation>> = {
  ECONNREFUSED: ({ host, proxy, address }) =>
    proxy === undefined
      ? `nothing listens at ${quoted(host)}; check ${address} and that the service is up`
      : `nothing listens at ${quoted(host)}, or the proxy ${quoted(proxy)} is down; check both, and NO_PROXY`,
  EAI_AGAIN: (input) =>
    isProxyName(input)
      ? `the name of the proxy ${quoted(input.proxy ?? '')} cannot be resolved for now; check HTTPS_PROXY, HTTP_PROXY and the DNS server`
      : `the name of ${quoted(input.host)} cannot be resolved for now; check the DNS server`,
  UND_ERR_CONNECT_TIMEOUT: unreachable,
  ETIMEDOUT: unreachable,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  UND_ERR_HEADERS_TIMEOUT: ({ host, seconds }) =>
    `${quoted(host)} gave no answer within ${seconds.headers} s`,
  UND_ERR_BODY_TIMEOUT: ({ host, seconds }) =>
    `the answer of ${quoted(host)} stopped for ${seconds.body} s before it was complete`,
  ANSWER_TOO_SLOW: ({ host, seconds }) => `${quoted(host)} did not end its answer within ${seconds.answer} s`,
  UND_ERR_SOCKET: broke,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: broke,
  ECONNRESET: broke,
  EPIPE: broke,
};

/** Permanent failures, by the code of the error. */
const permanent: Readonly<Record<string, Explanation>> = {
  ENOTFOUND: (input) =>
    isProxyName(input)
      ? `the host name of the proxy ${quoted(input.proxy ?? '')} does not exist; check HTTPS_PROXY, HTTP_PROXY and NO_PROXY`
      : `the host name in ${quoted(input.host)} does not exist; check ${input.address}`,
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  CERT_SIGNATURE_FAILURE: unknownAuthority,
  CERT_HAS_EXPIRED: ({ host }) =>
    `the certificate of ${quoted(host)} has expired; renew it, and check this machine's clock`,
  CERT_NOT_YET_VALID: ({ host }) =>
    `the certificate of ${quoted(host)} is not valid yet; check this machine's clock`,
  ERR_TLS_CERT_ALTNAME_INVALID: ({ host, address }) =>
    `the certificate of ${quoted(host)} is for other names; use one of them in ${address}`,
  ERR_SSL_WRONG_VERSION_NUMBER: noTls,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: noTls,
  EPROTO: noTls,
  ERR_OSSL_PEM_NO_START_LINE: badCaCert,
  ERR_OSSL_PEM_BAD_BASE64_DECODE: badCaCert,
  ANSWER_TOO_LARGE: ({ host, address }) =>
    `the answer of ${quoted(host)} is larger than any that a service of this kind gives; check that ${address} leads to the service itself`,
  UND_ERR_HEADERS_OVERFLOW: ({ host, address }) =>
    `the headers of the answer of ${quoted(host)} are larger than any service sends; check that ${address} leads to the service itself`,
  UND_ERR_PRX_CONN: proxyFailed,
  UND_ERR_PRX_TLS: proxyFailed,
  UND_ERR_ABORTED: proxyFailed,
  UND_ERR_DESTROYED: ({ host }) => `the connection to ${quoted(host)} had been closed before`,
  UND_ERR_CLOSED: ({ host }) => `the connection to ${quoted(host)} had been closed before`,
  UND_ERR_INVALID_ARG: ({ detail }) =>
    `the request is not valid HTTP (${detail}); check the token for stray characters`,
};

const otherProtocol: Explanation = ({ host, address }) =>
  `the answer of ${quoted(host)} is not HTTP; check whether ${address} should begin with "https://"`;

/** Explains an error by the first known code in it or in its causes. */
export function explainFailure(error: Error, context: FailureContext): Failure {
  const codes = errorCodes(error);
  const input = { address: targetAddress, ...context, detail: error.message, name: nameIn(error) };
  if (error.name === 'HTTPParserError') return { message: otherProtocol(input), isPermanent: true };
  for (const code of codes) {
    if (permanent[code] !== undefined) return { message: permanent[code](input), isPermanent: true };
    if (temporary[code] !== undefined) return { message: temporary[code](input), isPermanent: false };
  }
  return {
    message: `${error.message || error.name}${codes[0] === undefined ? '' : ` (${codes[0]})`}`,
    isPermanent: false,
  };
}

/** The codes in an error and in its causes, outermost first. */
export function errorCodes(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const own = 'code' in error && typeof error.code === 'string' ? [error.code] : [];
  const inner = error instanceof AggregateError ? error.errors.flatMap(errorCodes) : [];
  return [...own, ...inner, ...errorCodes(error.cause)];
}

/** The host name that the system could not resolve, from the error or its causes. */
function nameIn(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return 'hostname' in error && typeof error.hostname === 'string' ? error.hostname : nameIn(error.cause);
}
