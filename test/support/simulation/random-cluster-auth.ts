/** Random specs of roles and configs: every field, in all spellings that the service accepts. */
import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/model/json.ts';
import { caCert, otherCaCert, otherPublicKey, publicKey } from '../kinds/cluster-auth-config/pem-samples.ts';

const flag = fc.constantFrom<Json>(true, false, null);

/** A number of seconds in one of its spellings. */
function lifetime(seconds: readonly number[]): fc.Arbitrary<Json> {
  return fc.constantFrom(
    null,
    '',
    0,
    ...seconds.flatMap((n): Json[] => [n, `${n}`, `${n}s`, `${Math.floor(n / 60)}m${n % 60}s`]),
  );
}

/** A list in random order, or as one text. */
function wordList(words: readonly string[]): fc.Arbitrary<Json> {
  return fc.oneof(
    fc.constantFrom<Json>(null, [], ''),
    fc.shuffledSubarray([...words], { minLength: 1 }),
    fc.shuffledSubarray([...words], { minLength: 1 }).map((list) => list.join(', ')),
  );
}

const names = fc.oneof(
  { withCrossShrink: true },
  fc.shuffledSubarray(['api', 'worker-*', 'Batch'], { minLength: 1 }),
  fc.constant(['*']),
);

/** Batch tokens can have neither a period nor a limit of uses. */
const tokenKind: fc.Arbitrary<JsonObject> = fc.oneof(
  { withCrossShrink: true },
  fc.record<Record<string, Json>>(
    {
      tokenType: fc.constantFrom<Json>('default', 'service', '', null),
      tokenPeriod: lifetime([60, 3600]),
      tokenNumUses: fc.constantFrom<Json>(0, 5, null),
    },
    { requiredKeys: [] },
  ),
  fc.constant({ tokenType: 'batch', tokenPeriod: 0, tokenNumUses: 0 }),
);

const policies: fc.Arbitrary<JsonObject> = fc.oneof(
  { withCrossShrink: true },
  fc.constant({}),
  wordList(['read', 'Write', 'root']).map((tokenPolicies) => ({ tokenPolicies })),
  wordList(['read', 'Write', 'root']).map((old) => ({ policies: old })),
);

const who: fc.Arbitrary<JsonObject> = fc.record<Record<string, Json>>(
  {
    boundServiceAccountNames: names,
    boundServiceAccountNamespaces: names,
    boundServiceAccountNamespaceSelector: fc.constantFrom<Json>(
      '{"matchLabels":{"team":"a"}}',
      'matchLabels:\n  team: b\n',
      '',
      null,
    ),
    audience: fc.constantFrom<Json>('vault', 'https://secrets.internal', '', null),
    aliasNameSource: fc.constantFrom<Json>('serviceaccount_uid', 'serviceaccount_name', null),
  },
  { requiredKeys: ['boundServiceAccountNames', 'boundServiceAccountNamespaces'] },
);

const limits: fc.Arbitrary<JsonObject> = fc.record<Record<string, Json>>(
  {
    tokenTtl: lifetime([90, 600]),
    tokenMaxTtl: fc.oneof(lifetime([600, 86_400]), fc.constantFrom<Json>('7d', '1h30m')),
    tokenExplicitMaxTtl: lifetime([86_400]),
    tokenBoundCidrs: wordList([
      '10.0.0.0/8',
      '10.1.2.3',
      '10.1.2.4/32',
      '192.168.1.77/24',
      'fd00::/8',
      '::ffff:1.2.3.4',
    ]),
    tokenNoDefaultPolicy: flag,
  },
  { requiredKeys: [] },
);

export const roleSpec: fc.Arbitrary<JsonObject> = fc
  .tuple(who, tokenKind, policies, limits)
  .map((parts) => Object.assign({}, ...parts));

const certificates = fc.constantFrom<Json>(
  caCert,
  otherCaCert,
  caCert.replaceAll('\n', '\r\n'),
  `\n${caCert.trim()}  \n\n`,
);

/** Outside of a pod a certificate or a key is required. */
export const configSpec: fc.Arbitrary<JsonObject> = fc
  .record<Record<string, Json>>(
    {
      clusterHost: fc.constantFrom<Json>('https://10.0.0.1:6443', 'https://cluster.internal'),
      clusterCaCert: certificates,
      pemKeys: fc.oneof(
        fc.constantFrom<Json>(null, [], publicKey, otherPublicKey.trim()),
        fc.shuffledSubarray([publicKey, otherPublicKey.replaceAll('\n', '\r\n')]),
      ),
      disableLocalCaJwt: flag,
      disableIssValidation: flag,
      issuer: fc.constantFrom<Json>('me', 'you', '', null),
      tokenReviewerJwt: fc.constantFrom<Json>(
        null,
        null,
        { env: 'REVIEWER_JWT' },
        { env: 'OTHER_JWT', version: 2 },
        { file: 'reviewer.jwt', version: 3 },
      ),
    },
    { requiredKeys: ['clusterHost', 'clusterCaCert'] },
  )
  .chain((spec) =>
    fc.boolean().map((withoutCert): JsonObject => {
      if (!withoutCert) return spec;
      const { clusterCaCert: _, ...rest } = spec;
      return { ...rest, pemKeys: [publicKey], disableLocalCaJwt: true };
    }),
  );
