/** The schema of a ClusterAuthConfig's spec: the source of its type and of the JSON Schema for editors. */
import { type Static, Type } from 'typebox';
import { nullable } from '../../model/nullable.ts';
import type { Declared, Named } from '../../model/kind-specs.ts';

/** The source of the reviewer JWT; `check` requires exactly one. */
const reviewerJwt = Type.Object(
  {
    env: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
        patternErrorMessage: 'the name of an environment variable: letters, digits and "_"',
        description: 'The environment variable that holds the JWT when it is sent.',
        examples: ['REVIEWER_JWT'],
      }),
    ),
    file: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'The file that holds the JWT when it is sent.',
        examples: ['/var/run/secrets/reviewer.jwt'],
      }),
    ),
    version: Type.Optional(
      Type.Integer({
        minimum: 1,
        default: 1,
        description:
          'Raise it when the JWT itself has changed: the service does not show which one it holds.',
        examples: [2],
      }),
    ),
  },
  {
    additionalProperties: false,
    description:
      'The service account JWT that the service calls the token review API with: where it comes from, never the JWT itself. Left out: none is sent, and a write that would wipe a stored one is refused. null: none, which removes a stored one.',
    examples: [{ env: 'REVIEWER_JWT' }],
  },
);

export const configSpec = Type.Object(
  {
    clusterHost: Type.String({
      minLength: 1,
      description:
        'The base URL of the cluster\'s API server, such as "https://10.0.0.1:6443". The service takes a bare host too, but then every login fails.',
      examples: ['https://10.0.0.1:6443'],
    }),
    clusterCaCert: Type.Optional(
      nullable(
        Type.String({
          description:
            'The PEM certificate of the CA that signed the API server\'s. "" or null: none; inside a cluster\'s pod the local one is used, unless disableLocalCaJwt is true.',
          examples: ['-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n'],
        }),
      ),
    ),
    tokenReviewerJwt: Type.Optional(nullable(reviewerJwt)),
    pemKeys: Type.Optional(
      Type.Unsafe<string[] | string | null>({
        type: ['array', 'string', 'null'],
        items: { type: 'string', minLength: 1 },
        description:
          'PEM public keys or certificates that verify the signatures of service account JWTs: a list, or one text for one key. Order does not count. [] or null: signatures are not verified here.',
        examples: [['-----BEGIN PUBLIC KEY-----\n…\n-----END PUBLIC KEY-----\n']],
      }),
    ),
    disableLocalCaJwt: Type.Optional(
      nullable(
        Type.Boolean({
          description:
            "Keeps the service from falling back on its own pod's CA certificate and JWT. null: false.",
        }),
      ),
    ),
    disableIssValidation: Type.Optional(
      nullable(
        Type.Boolean({
          deprecated: true,
          description: 'Deprecated by the API. Leaves the issuer of JWTs unverified. null: true.',
        }),
      ),
    ),
    issuer: Type.Optional(
      nullable(
        Type.String({
          deprecated: true,
          description:
            'Deprecated by the API. The issuer that JWTs must have; "" or null: "cluster/serviceaccount" in the dialect neutral, any in others.',
          examples: ['https://issuer.example.com'],
        }),
      ),
    ),
  },
  {
    additionalProperties: false,
    description:
      'How a cluster-auth mount reaches its cluster and verifies its JWTs. A field that is left out is reset to its default.',
    examples: [
      {
        clusterHost: 'https://10.0.0.1:6443',
        clusterCaCert: '-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n',
        tokenReviewerJwt: { env: 'REVIEWER_JWT', version: 1 },
      },
    ],
  },
);

export type ConfigSpec = Declared<Static<typeof configSpec>>;

/** The same fields with values that were not validated: of a live, recorded or canonical config. */
export type ConfigFields = Named<ConfigSpec>;
