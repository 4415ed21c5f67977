/**
 * The schema of a ClusterAuthRole's spec: the source of its type and of the JSON Schema for editors. Also the meaning of 0 in
 * each lifetime.
 */
import { type Static, Type } from 'typebox';
import type { Declared, Named } from '../../model/kind-specs.ts';
import { nullable } from '../../model/nullable.ts';

/** What 0 means; never that a token expires at once. */
export const ttlZeroMeaning = {
  tokenTtl: 'what the mount gives',
  tokenMaxTtl: "the mount's limit only",
  tokenExplicitMaxTtl: 'no cap',
  tokenPeriod: 'not periodic',
} as const;

/** Seconds, or a duration as text, as the service accepts it (wire/cluster-auth 2.4). */
const lifetime = (description: string, zero: string) =>
  Type.Optional(
    Type.Unsafe<number | string | null>({
      type: ['integer', 'string', 'null'],
      minimum: 0,
      pattern: '^(\\d+d?|(\\d+(\\.\\d*)?(ns|us|µs|μs|ms|s|m|h))+)?$',
      patternErrorMessage: 'seconds, or a duration such as "90m", "1h30m" or "7d"',
      description: `${description} Seconds, or a duration such as "1h30m" or "7d"; 0, "" and null: ${zero}.`,
      examples: ['1h'],
    }),
  );

/** A list, or one text with commas, as the API accepts it. */
const textList = (description: string, example: string[], more: { deprecated?: true } = {}) =>
  Type.Optional(
    Type.Unsafe<string[] | string | null>({
      type: ['array', 'string', 'null'],
      items: { type: 'string', minLength: 1 },
      description: `${description} A list, or one text with commas; order does not count.`,
      examples: [example],
      ...more,
    }),
  );

export const roleSpec = Type.Object(
  {
    boundServiceAccountNames: Type.Array(Type.String({ minLength: 1 }), {
      description:
        'Service accounts that may log in with this role, by name. Entries are globs ("ci-*"); "*" alone admits every name. Order does not count.',
      examples: [['payments-api']],
    }),
    boundServiceAccountNamespaces: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        description:
          'Namespaces whose service accounts may log in. Entries are globs; "*" alone admits every namespace. Required unless boundServiceAccountNamespaceSelector is set. Every listed name may log in from every listed namespace.',
        examples: [['payments']],
      }),
    ),
    boundServiceAccountNamespaceSelector: Type.Optional(
      nullable(
        Type.String({
          description:
            'Admits, besides the listed namespaces, those whose labels match: a LabelSelector as JSON or YAML text, matchLabels only. Without labels every namespace matches. "" or null: no selector.',
          examples: ['{"matchLabels":{"team":"payments"}}'],
        }),
      ),
    ),
    audience: Type.Optional(
      nullable(
        Type.String({
          description:
            'The audience that a JWT must be issued for. "" or null: the audience is not checked, so a JWT for any other service is accepted, too.',
          examples: ['payments-api'],
        }),
      ),
    ),
    aliasNameSource: Type.Optional(
      nullable(
        Type.Enum(['serviceaccount_uid', 'serviceaccount_name'], {
          type: 'string',
          description:
            'The name of the identity that a login gets: the UID of the account (null, the default), or "namespace/name", which stays the same when the account is created again. A change creates new identities.',
        }),
      ),
    ),
    tokenTtl: lifetime('Lifetime of a token, and of each renewal.', ttlZeroMeaning.tokenTtl),
    tokenMaxTtl: lifetime('Lifetime that renewals cannot exceed.', ttlZeroMeaning.tokenMaxTtl),
    tokenExplicitMaxTtl: lifetime(
      'Hard cap on the lifetime of a token, also of a periodic one.',
      ttlZeroMeaning.tokenExplicitMaxTtl,
    ),
    tokenPeriod: lifetime(
      'Makes tokens periodic: each renewal extends them by this much, for ever.',
      ttlZeroMeaning.tokenPeriod,
    ),
    tokenPolicies: textList('Policies that tokens carry.', ['payments-read']),
    policies: textList(
      'Deprecated by the API: use tokenPolicies, which this is converted to.',
      ['payments-read'],
      {
        deprecated: true,
      },
    ),
    tokenBoundCidrs: textList(
      'Addresses that may log in and use the token: IP addresses or CIDR blocks. Empty: from anywhere.',
      ['192.0.2.0/24'],
    ),
    tokenStrictlyBindIp: Type.Optional(
      nullable(
        Type.Boolean({
          description:
            'Binds each token to the address that it was created for. Only where the dialect has it, and not together with tokenBoundCidrs. null: false.',
        }),
      ),
    ),
    tokenNoDefaultPolicy: Type.Optional(
      nullable(Type.Boolean({ description: 'Leaves the policy "default" out of tokens. null: false.' })),
    ),
    tokenNumUses: Type.Optional(
      nullable(
        Type.Integer({
          minimum: 0,
          maximum: Number.MAX_SAFE_INTEGER,
          description:
            'How often a token can be used. 0 or null: without limit, which a token that creates child tokens needs.',
          examples: [10],
        }),
      ),
    ),
    tokenType: Type.Optional(
      nullable(
        Type.Enum(['', 'default', 'service', 'batch'], {
          type: 'string',
          description:
            'Kind of token: "service", "batch" (advised for machines; without tokenPeriod and tokenNumUses), or the mount\'s own ("default", "" or null). "default-service" and "default-batch" belong to token store roles and are refused here.',
          examples: ['batch'],
        }),
      ),
    ),
  },
  {
    additionalProperties: false,
    description:
      'A role of a cluster-auth mount: which service accounts may log in, and what token they get.',
    examples: [
      {
        boundServiceAccountNames: ['network-prod'],
        boundServiceAccountNamespaces: ['network'],
        audience: 'network',
        tokenPolicies: ['network-read'],
        tokenTtl: '1h',
        tokenMaxTtl: '8h',
      },
    ],
  },
);

export type RoleSpec = Declared<Static<typeof roleSpec>>;

/** The same fields with values that were not validated: of a live, recorded, merged or canonical role. */
export type RoleFields = Named<RoleSpec>;
