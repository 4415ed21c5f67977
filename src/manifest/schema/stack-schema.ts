/**
 * The schema of the Stack document in `trueup.yaml`, and its TypeScript types from the same source. Rules that depend on the
 * service of a target are in `read-target.ts`.
 */
import { type Static, Type } from 'typebox';
import { type LintCode, lintCodeNames } from '../../model/lint-codes.ts';
import { type GuardId, guardIds, guardLimits } from '../../model/guard.ts';
import { isJsonObject, type JsonObject } from '../../model/json.ts';
import { jsonSchema } from '../../model/define-kind.ts';
import type { Registry } from '../../model/kind.ts';
import { apiVersion, partialSpecSchema } from './manifest-schema.ts';
import { Archive, closed, env, file, Ledger, oneMember, SecretSource, text } from './place-schemas.ts';

const Login = Type.Object(
  {
    mount: text('Mount of the authentication method to log in at'),
    role: text('Role to log in as'),
    jwt: SecretSource,
  },
  { ...closed, description: "Log in with a service account's JWT" },
);

const Token = Type.Object(
  { env: Type.Optional(env), file: Type.Optional(file), login: Type.Optional(Login) },
  { ...oneMember, description: 'Source of the token; never the token itself' },
);

const TargetSchema = Type.Object(
  {
    name: Type.String({
      pattern: '^[a-z0-9-]+$',
      patternErrorMessage: 'lower-case letters, digits and "-"',
      description: 'Name of the target in manifests and reports',
    }),
    service: Type.Unsafe<'workspaces' | 'cluster-auth'>({
      type: 'string',
      enum: ['workspaces', 'cluster-auth'],
      description: 'Which API it speaks',
    }),
    url: text('"embedded", or the http(s) address of the service without the path of its API'),
    organization: Type.Optional(text('Organization of the workspaces')),
    mount: Type.Optional(text('Mount of the authentication method, below "auth/"')),
    token: Type.Optional(Token),
    auditToken: Type.Optional({
      ...SecretSource,
      description: "Source of the token for the organization's audit trail; used for nothing else",
    } as typeof SecretSource),
    caCert: Type.Optional(
      Type.Object({ file: text('Path of the PEM file') }, { ...closed, description: 'CA of the service' }),
    ),
    namespace: Type.Optional(text('Namespace of the secrets service')),
    dialect: Type.Optional(text('API variant of the service; required unless the url is "embedded"')),
    requestsPerSecond: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 10_000,
        description:
          'Maximum rate of requests, used from the start; without it, the rate follows the limits of the service',
      }),
    ),
    owns: Type.Optional(
      Type.Array(text('A name, or a pattern with "*"'), {
        description: 'Role names that this stack owns; only "*" is special',
      }),
    ),
    exclusive: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Delete every undeclared role that "owns" matches, even if this stack has not created it',
      }),
    ),
    ownership: Type.Optional(
      Type.Unsafe<'claim' | 'ledger'>({
        type: 'string',
        enum: ['claim', 'ledger'],
        default: 'claim',
        description:
          'Where the owner of a workspace is recorded: in a tag binding on it, or, for a service without tag bindings, in the ledger',
      }),
    ),
    deletes: Type.Optional(
      Type.Unsafe<'safe' | 'plain'>({
        type: 'string',
        enum: ['safe', 'plain'],
        default: 'safe',
        description:
          'How workspaces are deleted: by a safe delete, or, for a service without one, by a plain delete if they manage no resources',
      }),
    ),
  },
  closed,
);

/** A text, or a map with options. Each keyword applies to values of its own type only: a union would give worse messages. */
const ManifestPattern = Type.Unsafe<ManifestPatternDocument>({
  type: ['string', 'object'],
  minLength: 1,
  ...closed,
  required: ['pattern'],
  properties: {
    pattern: Type.String({
      pattern: '^(?!!|-$).',
      patternErrorMessage:
        'a file, a directory or a pattern; write "-" and exclusions with "!" as plain text',
      description: 'A file, a directory, or a pattern such as "manifests/**/*.yaml"',
    }),
    optional: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether it may match no file; if not, nothing is removed while it matches none',
      }),
    ),
  },
  description: 'A file, a directory, a pattern such as "manifests/**/*.yaml", or "-"',
});

type ManifestPatternDocument = string | { readonly pattern: string; readonly optional?: boolean };

const Secrets = Type.Object(
  {
    env: Type.Optional(
      Type.Array(
        Type.String({
          pattern: '^[A-Za-z_*][A-Za-z0-9_*]*$',
          patternErrorMessage: 'the name of an environment variable, or a pattern such as REVIEWER_*',
        }),
        {
          description:
            'Environment variables by name, or by a pattern in which only "*" is special; left out: none',
        },
      ),
    ),
    files: Type.Optional(
      Type.Array(
        Type.String({
          pattern: '^[^!]',
          patternErrorMessage: 'a path or a glob such as /var/run/secrets/**, without "!" in front',
        }),
        { description: 'Files by path or glob, absolute or relative to this file; left out: none' },
      ),
    ),
  },
  {
    ...closed,
    description: 'Allowed sources of secrets in manifests; left out: all. Tokens of targets are not limited',
  },
);

const percent = (done: string, fallback: number) =>
  Type.Number({
    minimum: 0,
    maximum: 100,
    default: fallback,
    description: `Maximum percentage of the resources of a kind in a target that are ${done} without acknowledgement`,
  });
const guardList = (description: string) =>
  Type.Array(Type.Unsafe<GuardId>({ type: 'string', enum: [...guardIds] }), {
    uniqueItems: true,
    description,
  });
const lintList = (description: string) =>
  Type.Array(Type.Unsafe<LintCode>({ type: 'string', enum: [...lintCodeNames] }), {
    uniqueItems: true,
    description,
  });
const stackName = {
  pattern: '^[a-z0-9-]{1,63}$',
  patternErrorMessage: 'lower-case letters, digits and "-", at most 63',
};

export const stackSchema = Type.Object(
  {
    apiVersion: Type.Unsafe<typeof apiVersion>({
      const: apiVersion,
      description: 'Version of the format of this document',
    }),
    kind: Type.Unsafe<'Stack'>({ const: 'Stack', description: 'Kind of this document' }),
    metadata: Type.Object(
      {
        name: Type.String({
          ...stackName,
          description: 'Name of the stack, written into the ownership tags of its workspaces',
        }),
        renamedFrom: Type.Optional(
          Type.String({
            ...stackName,
            description: 'Former name of the stack, whose ownership tags are taken over',
          }),
        ),
      },
      { ...closed, description: 'Which stack this is' },
    ),
    spec: Type.Object(
      {
        manifests: Type.Array(ManifestPattern, {
          description:
            'Manifests, relative to this file; "!" in front excludes; an empty list means that there are none',
        }),
        targets: Type.Array(TargetSchema, {
          minItems: 1,
          description: 'The services that the stack manages',
        }),
        defaults: Type.Optional(
          Type.Unsafe<Record<string, JsonObject>>({
            type: 'object',
            additionalProperties: { type: 'object' },
            description: 'By kind: merged under the spec of each manifest of that kind',
          }),
        ),
        secrets: Type.Optional(Secrets),
        ledger: Type.Optional(Ledger),
        audit: Type.Optional(
          Type.Object(
            { archive: Archive },
            { ...closed, description: 'Archive of the audit trails of the organizations' },
          ),
        ),
        timeout: Type.Optional(
          Type.String({
            pattern: '^[1-9][0-9]{0,5}[smh]$',
            patternErrorMessage: 'a time such as 90s, 30m or 2h',
            default: '1h',
            description: 'Maximum time of a run from its first request',
          }),
        ),
        embedded: Type.Optional(
          Type.Object(
            { seed: text('YAML file with the organizations, pools, keys, tokens and mounts to start with') },
            {
              ...closed,
              description: 'What the embedded service starts with; for targets with the url "embedded"',
            },
          ),
        ),
        guards: Type.Optional(
          Type.Object(
            {
              maxDeletes: Type.Optional(
                Type.Integer({
                  minimum: 0,
                  default: guardLimits.maxDeletes,
                  description:
                    'Maximum deletes without acknowledgement: of a kind in a target, in a target, and in the plan',
                }),
              ),
              maxDeletePercent: Type.Optional(percent('deleted or released', guardLimits.maxDeletePercent)),
              maxUpdatePercent: Type.Optional(percent('updated', guardLimits.maxUpdatePercent)),
              raise: Type.Optional(guardList('Guards that only warn by default and block in this stack')),
              allow: Type.Optional(guardList('Guards that block by default and only warn in this stack')),
            },
            { ...closed, description: 'How much a plan may change before somebody must acknowledge it' },
          ),
        ),
        lint: Type.Optional(
          Type.Object(
            {
              raise: Type.Optional(lintList('Findings that are errors in this stack')),
              allow: Type.Optional(lintList('Findings that are not reported in this stack')),
            },
            {
              ...closed,
              description: 'Levels of findings that are warnings by default, by their codes',
            },
          ),
        ),
      },
      { ...closed, description: 'What the stack manages, and how' },
    ),
  },
  { ...closed, title: 'Stack', description: 'The unit of plan and apply: a name, its targets, its guards' },
);

export type StackDocument = Static<typeof stackSchema>;
export type TargetDocument = Static<typeof TargetSchema>;

/** The stack's schema for editors, which also knows the fields that `defaults` may hold. */
export function stackDocumentSchema(kinds: Registry): JsonObject {
  const schema = jsonSchema(stackSchema);
  const defaults = {
    type: 'object',
    description: 'By kind: merged under the spec of each manifest of that kind',
    properties: Object.fromEntries([...kinds.values()].map((kind) => [kind.name, partialSpecSchema(kind)])),
    additionalProperties: false,
  };
  const { properties, ...rest } = schema;
  if (!isJsonObject(properties) || !isJsonObject(properties['spec'])) throw new Error('the stack has a spec');
  const spec = properties['spec'];
  const members = { ...(isJsonObject(spec['properties']) ? spec['properties'] : {}), defaults };
  return { ...rest, properties: { ...properties, spec: { ...spec, properties: members } } };
}
