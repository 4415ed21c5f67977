// Recorded logins of a real service (test/vectors): a refusal that does not depend on its cluster is predicted, by
// the check that the service names, and no granted login is predicted to fail.
import { describe, expect, it } from 'vitest';
import { checkedConfig, checkedRole } from '../../../src/commands/role-check/rules.ts';
import { walkChecks } from '../../../src/commands/role-check/checks.ts';
import { liveConfig } from '../../../src/kinds/cluster-auth-config/fields.ts';
import { liveRole } from '../../../src/kinds/cluster-auth-role/live-role.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import type { LoginCheck, LoginCheckName } from '../../../src/model/login-check.ts';
import {
  fixtures,
  type RecordedCase,
  recordedCases,
  recordedJwtForms,
} from '../../support/server/cluster-auth/replay/vectors.ts';

/** The checks behind each error of the service; `permission denied` hides which one it was. */
const checksBehind: readonly (readonly [RegExp, readonly LoginCheckName[]])[] = [
  [/^permission denied$/, ['jwt', 'signature', 'review']],
  [/unexpected algorithm/, ['signature']],
  [/expected (?:number|string or array) value|Go struct field Claims/, ['claims']],
  [/issuer \(iss\)/, ['issuer']],
  [/audience \(aud\)/, ['audience']],
  [/\((?:nbf|exp|iat)\)/, ['times']],
  [/^decoding failed/, ['account']],
  [/name not authorized/, ['name']],
  [/^namespace not authorized/, ['namespace']],
  [/must be set|could not parse UID/, ['alias']],
];

/** Logins that only the cluster decides: by the review itself, or by the labels of a namespace. */
const decidedByCluster = new Set([
  ...['login-037', 'login-069', 'login-070', 'login-071', 'login-072', 'login-077', 'login-079', 'login-081'],
  ...['login-082', 'login-090', 'login-091', 'login-092', 'login-093', 'login-094', 'login-095', 'login-096'],
  // The JWT goes into a header of the review, which cannot have a line end inside.
  ...['keys: newlines every 64', 'keys: newline inside'],
]);

function bodiesTo(setup: RecordedCase['setup'], path: RegExp): JsonObject[] {
  return setup.filter((request) => path.test(request.path)).map(({ body }) => body as JsonObject);
}

/** Replaces the dialect's names of two members by the neutral ones. */
function neutral(body: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name.replace('kubernetes_', 'cluster_'),
      typeof value === 'string' ? value.replace(/\$\{cluster(?:Tls)?\}/, 'https://cluster.test') : value,
    ]),
  );
}

interface RecordedLogin {
  readonly id: string;
  readonly title: string;
  readonly jwt: string;
  readonly config: JsonObject;
  readonly role: JsonObject;
  /** the error of a refusal; undefined for a login that was granted */
  readonly refusal: string | undefined;
}

const accounts: readonly RecordedLogin[] = recordedCases().flatMap(
  ({ id, title, setup, request, answer }) => {
    const { jwt, role: name } = (request.body ?? {}) as Record<string, unknown>;
    const config = bodiesTo(setup, /\/config$/).at(-1);
    const roles = bodiesTo(setup, /\/role\//);
    const isLogin = id.startsWith('login-') && request.path.endsWith('/login');
    if (!isLogin || typeof jwt !== 'string' || typeof name !== 'string') return [];
    if (config === undefined || roles.length === 0) return [];
    const { errors } = answer.body as { readonly errors?: readonly string[] };
    const refusal = answer.status === 200 ? undefined : errors?.join();
    return [{ id, title, jwt, config: neutral(config), role: Object.assign({}, ...roles), refusal }];
  },
);

const { ec, rsa } = fixtures().keys;

/** Each form of a JWT, with keys in the config and without. */
const forms: readonly RecordedLogin[] = recordedJwtForms().map(({ config, title, jwt, answer }) => ({
  id: `${config}: ${title}`,
  title,
  jwt,
  config: {
    cluster_host: 'https://cluster.test',
    cluster_ca_cert: 'any',
    ...(config === 'keys' && { pem_keys: [ec.public, rsa.public] }),
  },
  role: { bound_service_account_names: ['api'], bound_service_account_namespaces: ['payments'] },
  refusal: answer.status === 200 ? undefined : answer.errors?.join(),
}));

const logins = [...accounts, ...forms];

function firstFailed({ jwt, config, role }: RecordedLogin): LoginCheck | undefined {
  const address = { kind: 'any', target: 'any', name: 'any' };
  const { spec } = liveConfig(address, config);
  const hasReviewerJwt = config['token_reviewer_jwt'] !== undefined;
  const checks = walkChecks(
    { jwt, from: '127.0.0.1', now: Date.now() },
    {
      role: checkedRole(liveRole(address, role).spec, {}),
      config: { is: 'known', config: checkedConfig(spec, {}, { hasReviewerJwt, usesAnnotations: false }) },
    },
  );
  return checks.find(({ result }) => result === 'failed');
}

describe('a recorded login', () => {
  it('is one of more than 230', () => {
    expect(logins.length).toBeGreaterThan(230);
  });

  it.each(logins.filter(({ refusal }) => refusal === undefined))(
    '$id that was granted is not predicted to fail: $title',
    (login) => {
      expect(firstFailed(login)).toBeUndefined();
    },
  );

  it.each(logins.filter(({ id, refusal }) => refusal !== undefined && !decidedByCluster.has(id)))(
    '$id that was refused is predicted: $title',
    (login) => {
      const failed = firstFailed(login);
      const [, possible = []] = checksBehind.find(([words]) => words.test(login.refusal ?? '')) ?? [];
      expect(possible, login.refusal).toContain(failed?.name);
    },
  );

  it.each(logins.filter(({ id }) => decidedByCluster.has(id)))(
    '$id that the cluster decided is left open: $title',
    (login) => {
      expect(firstFailed(login)).toBeUndefined();
    },
  );
});
