/** The schema of a target in a stack, and its TypeScript type from the same source. */
import { type Static, Type } from 'typebox';
import { closed, env, file, oneMember, SecretSource, text } from './place-schemas.ts';

const Jwt = Type.Object(
  {
    env: Type.Optional(env),
    file: Type.Optional(file),
    oidc: Type.Optional(
      Type.Object(
        { audience: text('Audience of the JWT, which the role must expect', 'https://secrets.example.com') },
        {
          ...closed,
          description:
            'Ask the OIDC provider of the CI for a JWT of the job, as jobs with "permissions: { id-token: write }" may',
        },
      ),
    ),
  },
  { ...oneMember, description: 'Source of the JWT, read for each login; never the JWT itself' },
);

const Login = Type.Object(
  {
    mount: text('Mount of the authentication method to log in at', 'ci'),
    role: text('Role to log in as', 'trueup'),
    readRole: Type.Optional(
      text(
        'Role of commands that only read, such as plan and drift; left out: that of "role"',
        'trueup-read',
      ),
    ),
    jwt: Jwt,
  },
  { ...closed, description: 'Log in with a JWT: of a service account, or of a CI job' },
);

const Token = Type.Object(
  { env: Type.Optional(env), file: Type.Optional(file), login: Type.Optional(Login) },
  { ...oneMember, description: 'Source of the token; never the token itself' },
);

export const TargetSchema = Type.Object(
  {
    name: Type.String({
      pattern: '^[a-z0-9-]+$',
      patternErrorMessage: 'lower-case letters, digits and "-"',
      description: 'Name of the target in manifests and reports',
      examples: ['acme'],
    }),
    service: Type.Unsafe<'workspaces' | 'cluster-auth'>({
      type: 'string',
      enum: ['workspaces', 'cluster-auth'],
      description: 'Which API it speaks',
    }),
    url: text(
      '"embedded", or the http(s) address of the service without the path of its API',
      'https://workspaces.example.com',
    ),
    organization: Type.Optional(
      text('Organization of the workspaces; required with service "workspaces"', 'acme'),
    ),
    mount: Type.Optional(
      text(
        'Mount of the authentication method, below "auth/"; left out: the usual mount of the dialect',
        'cluster',
      ),
    ),
    token: Type.Optional(Token),
    auditToken: Type.Optional({
      ...SecretSource,
      description: "Source of the token for the organization's audit trail; used for nothing else",
    } as typeof SecretSource),
    caCert: Type.Optional(
      Type.Object(
        { file: text('Path of the PEM file', 'ca.pem') },
        { ...closed, description: 'CA of the service' },
      ),
    ),
    namespace: Type.Optional(text('Namespace of the secrets service', 'platform')),
    dialect: Type.Optional(
      text('API variant of the service; required unless the url is "embedded"', 'neutral'),
    ),
    requestsPerSecond: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 10_000,
        description:
          'Maximum rate of requests, used from the start; without it, the rate follows the limits of the service',
        examples: [10],
      }),
    ),
    owns: Type.Optional(
      Type.Array(text('A name, or a pattern with "*"', 'payments-*'), {
        description:
          'For targets of cluster-auth only: role names that this stack owns; only "*" is special. A plan lists undeclared roles with these names, and keeps those that have no record. Left out: each declared name is allowed, and undeclared roles without a record are neither read nor listed, unless the target is exclusive',
        examples: [['payments-*']],
      }),
    ),
    exclusive: Type.Optional(
      Type.Boolean({
        description:
          'Delete every undeclared role that "owns" matches, even if this stack has not created it',
        default: false,
      }),
    ),
    ownership: Type.Optional(
      Type.Unsafe<'claim' | 'ledger'>({
        type: 'string',
        enum: ['claim', 'ledger'],
        description:
          'Where the owner of a workspace is recorded: in a tag binding on it, or, for a service without tag bindings, in the ledger',
        default: 'claim',
        examples: ['ledger'],
      }),
    ),
    readBeforeWrite: Type.Optional(
      Type.Unsafe<'page' | 'resource'>({
        type: 'string',
        enum: ['page', 'resource'],
        description:
          'What an update of a workspace relies on: its page of the list, read at most three seconds before, or a read of the workspace alone, just before, which needs twice as many requests. All other writes always rely on a read of the resource alone',
        default: 'page',
        examples: ['resource'],
      }),
    ),
    deletes: Type.Optional(
      Type.Unsafe<'safe' | 'plain'>({
        type: 'string',
        enum: ['safe', 'plain'],
        description:
          'How workspaces are deleted: by a safe delete, or, for a service without one, by a plain delete if they manage no resources',
        default: 'safe',
        examples: ['plain'],
      }),
    ),
  },
  closed,
);

export type TargetDocument = Static<typeof TargetSchema>;
