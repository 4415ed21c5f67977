// A thousand JWTs that are mutations of valid ones, sent to a service that verifies signatures, and to one that relies on the
// cluster.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { mutation, partsOf } from '../../../support/server/cluster-auth/hostile-jwts.ts';
import {
  type Account,
  withLifetime,
  legacyClaims,
  projectedClaims,
  publicKeyOf,
  sendJson,
  acceptingReview,
} from '../../../support/server/cluster-auth/issuing-cluster.ts';
import { type Logins, serveLogins } from '../../../support/server/cluster-auth/serve-logins.ts';

const RUNS = 1000;

const originals = [
  { algorithm: 'ES256', claims: () => withLifetime(projectedClaims()) },
  { algorithm: 'RS256', claims: () => withLifetime(projectedClaims()) },
  { algorithm: 'ES384', claims: () => legacyClaims() },
] as const;

async function served(config: Record<string, unknown>): Promise<{ logins: Logins; good: string[] }> {
  const logins = await serveLogins();
  await logins.configure(config);
  await logins.role({ bound_service_account_names: ['*'], bound_service_account_namespaces: ['*'] });
  const good = await Promise.all(
    originals.map(({ algorithm, claims }) => logins.cluster.issue({}, claims(), algorithm)),
  );
  for (const jwt of good) expect((await logins.login(jwt)).status).toBe(200);
  return { logins, good };
}

/** The service account that a JWT claims, read without any check. */
function claimedAccount(jwt: string): Account {
  try {
    const claims = JSON.parse(partsOf(jwt).claims) as Record<string, Record<string, unknown>>;
    const nested = claims['kubernetes.io'] ?? {};
    return { namespace: String(nested['namespace']), ...(nested['serviceaccount'] as Account) };
  } catch {
    return {};
  }
}

const pick = fc.nat({ max: originals.length - 1 });

it('accepts no changed header or claim if it has keys, even if the cluster confirms every JWT', async () => {
  const { logins, good } = await served({ pem_keys: ['ES256', 'RS256', 'ES384'].map(publicKeyOf) });
  logins.cluster.misbehaviour = (response, { body }) =>
    sendJson(response, 201, acceptingReview(claimedAccount(body.spec.token), body.spec.audiences));
  await fc.assert(
    fc.asyncProperty(pick, mutation, async (index, mutate) => {
      const original = good[index] ?? '';
      const jwt = mutate(original);
      const { status } = await logins.login(jwt);
      expect(status).not.toBe(500);
      if (status !== 200) return;
      const [{ header, claims }, before] = [partsOf(jwt), partsOf(original)];
      expect({ header, claims }).toEqual({ header: before.header, claims: before.claims });
    }),
    { numRuns: RUNS },
  );
}, 120_000);

it('accepts no JWT that the cluster has not issued', async () => {
  const { logins, good } = await served({});
  await fc.assert(
    fc.asyncProperty(pick, mutation, async (index, mutate) => {
      const jwt = mutate(good[index] ?? '');
      const { status } = await logins.login(jwt);
      if (status === 200) expect(logins.cluster.vouchesFor(jwt)).toBe(true);
      else expect(logins.cluster.vouchesFor(jwt) && jwt !== good[index]).toBe(false);
    }),
    { numRuns: RUNS },
  );
}, 120_000);
