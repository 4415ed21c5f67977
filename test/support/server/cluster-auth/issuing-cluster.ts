/**
 * The parts of a container cluster that logins need: it issues JWTs of service accounts, and its reviews accept only these.
 * It serves HTTP and TLS, has labels of namespaces, and a test can make it misbehave.
 */
import { generateKeyPairSync, type KeyObject, sign as signBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { type JWTPayload, SignJWT } from 'jose';
import { onTestFinished } from 'vitest';
import { fixtures } from './replay/vectors.ts';

export const UID = 'd77f89bc-9055-11e7-a068-0800276d99bf';

export interface Account {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
}

export interface Question {
  readonly path: string;
  readonly bearer: string;
  readonly body: { readonly spec: { readonly token: string; readonly audiences?: readonly string[] } };
}

/** Writes a response instead of a review, or none. */
export type Misbehaviour = (response: ServerResponse, question: Question) => void;

const pairs = {
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ES384: generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  ES512: generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  EdDSA: generateKeyPairSync('ed25519'),
};

/** All other algorithms use RSA. */
const curves = { ES256: 'ES256', ES384: 'ES384', ES512: 'ES512', EdDSA: 'EdDSA' } as const;

/** The algorithms that are accepted for JWTs of service accounts. */
export const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512'] as const;
export type Algorithm = (typeof ALGORITHMS)[number];

/** Algorithms that the service knows and refuses. */
export const REFUSED_ALGORITHMS = ['PS256', 'PS384', 'PS512', 'EdDSA'] as const;

function pairOf(algorithm: string): { publicKey: KeyObject; privateKey: KeyObject } {
  return pairs[curves[algorithm as keyof typeof curves] ?? 'RS256'];
}

/** The cluster's public key for an algorithm, in the format of a config. */
export function publicKeyOf(algorithm: string): string {
  return pairOf(algorithm).publicKey.export({ type: 'spki', format: 'pem' }).toString();
}

/** The claims of a projected JWT, with a nested object. */
export function projectedClaims({
  name = 'api',
  namespace = 'payments',
  uid = UID,
}: Account = {}): JWTPayload {
  return {
    iss: 'https://cluster.test',
    aud: ['service', 'https://cluster.test'],
    sub: `system:serviceaccount:${namespace}:${name}`,
    'kubernetes.io': { namespace, pod: { name: 'pod', uid: 'p' }, serviceaccount: { name, uid } },
  };
}

/** The claims of a JWT from a secret: flat, and without times. */
export function legacyClaims({ name = 'api', namespace = 'payments', uid = UID }: Account = {}): JWTPayload {
  return {
    iss: 'kubernetes/serviceaccount',
    sub: `system:serviceaccount:${namespace}:${name}`,
    'kubernetes.io/serviceaccount/namespace': namespace,
    'kubernetes.io/serviceaccount/secret.name': `${name}-token-x7k2p`,
    'kubernetes.io/serviceaccount/service-account.name': name,
    'kubernetes.io/serviceaccount/service-account.uid': uid,
  };
}

/** Signs claims with the cluster's key. Reviews do not accept the JWT yet. */
export function sign(claims: JWTPayload, algorithm: string = 'ES256'): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg: algorithm }).sign(pairOf(algorithm).privateKey);
}

/** Signs with any header, also one that no library would write. */
export function signWithHeader(header: object, claims: unknown): string {
  const parts = [{ alg: 'ES256', ...header }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  const key = { key: pairs.ES256.privateKey, dsaEncoding: 'ieee-p1363' } as const;
  return [...parts, signBytes('sha256', Buffer.from(parts.join('.')), key).toString('base64url')].join('.');
}

/** Adds the times of a JWT that is valid now. */
export function withLifetime(claims: JWTPayload, now = Date.now()): JWTPayload {
  const seconds = Math.trunc(now / 1000);
  return { ...claims, iat: seconds - 10, nbf: seconds - 10, exp: seconds + 3600 };
}

export class IssuingCluster {
  readonly url: string;
  readonly tlsUrl: string;
  /** The certificate authority of `tlsUrl`. */
  readonly authority = fixtures().certs.ca.certificate;
  readonly questions: Question[] = [];
  /** labels by namespace */
  readonly labels: Record<string, Record<string, string>> = {};
  misbehaviour: Misbehaviour | undefined;
  readonly #issued = new Map<string, Account>();

  constructor(port: number, tlsPort: number) {
    this.url = `http://127.0.0.1:${port}`;
    this.tlsUrl = `https://127.0.0.1:${tlsPort}`;
  }

  /** Issues a JWT, which reviews accept from now on. */
  async issue(
    account: Account = {},
    claims = withLifetime(projectedClaims(account)),
    algorithm = 'ES256',
  ): Promise<string> {
    const jwt = await sign(claims, algorithm);
    this.vouchFor(jwt, account);
    return jwt;
  }

  /** Makes reviews accept a JWT that the cluster did not sign. */
  vouchFor(jwt: string, account: Account = {}): void {
    this.#issued.set(jwt, account);
  }

  vouchesFor(jwt: string): boolean {
    return this.#issued.has(jwt);
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const question = {
      path: request.url ?? '',
      bearer: (request.headers.authorization ?? '').replace('Bearer ', ''),
      body: body === '' ? { spec: { token: '' } } : JSON.parse(body),
    };
    this.questions.push(question);
    if (this.misbehaviour !== undefined) return this.misbehaviour(response, question);
    const namespace = /^\/api\/v1\/namespaces\/([^/]+)$/.exec(question.path)?.[1];
    if (namespace === undefined) return sendJson(response, 201, this.#review(question));
    const labels = this.labels[namespace];
    sendJson(
      response,
      labels === undefined ? 404 : 200,
      labels === undefined
        ? { kind: 'Status', status: 'Failure', message: `namespaces "${namespace}" not found` }
        : { kind: 'Namespace', metadata: { name: namespace, labels } },
    );
  }

  #review({ body: { spec } }: Question): unknown {
    const account = this.#issued.get(spec.token);
    return account === undefined
      ? { kind: 'TokenReview', status: { user: {}, error: 'invalid bearer token' } }
      : acceptingReview(account, spec.audiences);
  }
}

/** The review that accepts a JWT of this account. */
export function acceptingReview(
  { name = 'api', namespace = 'payments', uid = UID }: Account,
  audiences?: readonly string[],
): unknown {
  const user = { username: `system:serviceaccount:${namespace}:${name}`, uid };
  return { kind: 'TokenReview', status: { authenticated: true, user, audiences } };
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Starts a cluster for one test. */
export async function issuingCluster(): Promise<IssuingCluster> {
  const { certificate, private: key } = fixtures().certs.server;
  const answer = (request: IncomingMessage, response: ServerResponse) =>
    void cluster.answer(request, response);
  const [plain, overTls] = [createServer(answer), createTlsServer({ cert: certificate, key }, answer)];
  const cluster = new IssuingCluster(await listen(plain), await listen(overTls));
  return cluster;
}

async function listen(server: Server & { closeAllConnections(): void }): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}
