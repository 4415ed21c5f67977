/**
 * The schema of the Stack document in `trueup.yaml`, and its TypeScript types from the same source. Rules that depend on the
 * service of a target are in `read-target.ts`.
 */
import { type Static, Type } from 'typebox';
import { approvalMethods, type ApprovalRules, type Approver } from '../../model/approval.ts';
import { type LintCode, lintCodeNames } from '../../model/lint-codes.ts';
import { adjustableGuardIds, type BuiltInGuard, guardLimits } from '../../model/guard.ts';
import { isJsonObject, type JsonObject } from '../../model/json.ts';
import { jsonSchema } from '../../model/define-kind.ts';
import type { Registry } from '../../model/kind.ts';
import { stackLabelsSchema } from './label-schema.ts';
import { apiVersion, defaultsExample, defaultsSchema, partialSpecSchema } from './manifest-schema.ts';
import { Archive, closed, Ledger, oneMember, Policies, text } from './place-schemas.ts';
import { TargetSchema } from './target-schema.ts';

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
      examples: ['manifests/**/*.yaml'],
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
          examples: [['REVIEWER_*']],
        },
      ),
    ),
    files: Type.Optional(
      Type.Array(
        Type.String({
          pattern: '^[^!]',
          patternErrorMessage: 'a path or a glob such as /var/run/secrets/**, without "!" in front',
        }),
        {
          description: 'Files by path or glob, absolute or relative to this file; left out: none',
          examples: [['/var/run/secrets/**']],
        },
      ),
    ),
  },
  {
    ...closed,
    description: 'Allowed sources of secrets in manifests; left out: all. Tokens of targets are not limited',
  },
);

const ApproverSchema = Type.Unsafe<Approver>(
  Type.Object(
    {
      signers: Type.Optional(
        Type.String({
          pattern: String.raw`^(?!/|.*(?:^|/)\.\.(?:/|$))[^\\:]+$`,
          patternErrorMessage: 'a file beside or below this file, such as approvers/allowed_signers',
          description:
            'File with the keys of people who may sign approvals, in the "allowed_signers" format of ssh-keygen, relative to this file',
          examples: ['allowed_signers'],
        }),
      ),
      user: Type.Optional(text('User name in the code host', 'alice')),
      team: Type.Optional(
        text(
          'Team of the code host whose members may approve: "organization/team", or the path of a group',
          'acme/platform',
        ),
      ),
    },
    { ...oneMember, description: 'People who may approve a plan' },
  ),
);

const Approvals = Type.Unsafe<ApprovalRules>(
  Type.Object(
    {
      accept: Type.Optional(
        Type.Array(
          Type.Unsafe<(typeof approvalMethods)[number] | 'none'>({
            type: 'string',
            enum: [...approvalMethods, 'none'],
          }),
          {
            minItems: 1,
            uniqueItems: true,
            description: 'Methods that count; "none" alone means that no approval is needed',
            default: [...approvalMethods],
            examples: [['signature']],
          },
        ),
      ),
      count: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 20,
          default: 1,
          description: 'Number of different people who must approve a plan',
        }),
      ),
      from: Type.Optional(
        Type.Array(ApproverSchema, {
          minItems: 1,
          description:
            'Who may approve; without users and teams, everybody with write permission in the code host; without signers, no signature counts',
          examples: [[{ signers: 'allowed_signers' }, { team: 'acme/platform' }]],
        }),
      ),
      selfApprove: Type.Optional(
        Type.Boolean({
          default: false,
          description: 'Whether the authors of a pull request may approve its plan',
        }),
      ),
      selfAck: Type.Optional(
        Type.Boolean({
          default: false,
          description: 'Whether the authors of a pull request may acknowledge its guards by labels',
        }),
      ),
    },
    { ...closed, description: 'What "trueup ci apply" requires before it writes' },
  ),
);

const percent = (done: string, fallback: number) =>
  Type.Number({
    minimum: 0,
    maximum: 100,
    default: fallback,
    description: `Maximum percentage of the resources of a kind in a target that are ${done} without acknowledgement; from ten resources on`,
  });
const guardList = (description: string, example: BuiltInGuard) =>
  Type.Array(Type.Unsafe<BuiltInGuard>({ type: 'string', enum: [...adjustableGuardIds] }), {
    uniqueItems: true,
    description,
    examples: [[example]],
  });
const lintList = (description: string, example: LintCode) =>
  Type.Array(Type.Unsafe<LintCode>({ type: 'string', enum: [...lintCodeNames] }), {
    uniqueItems: true,
    description,
    examples: [[example]],
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
          examples: ['payments'],
        }),
        renamedFrom: Type.Optional(
          Type.String({
            ...stackName,
            description: 'Former name of the stack, whose ownership tags are taken over',
            examples: ['billing'],
          }),
        ),
        labels: Type.Optional(stackLabelsSchema),
      },
      { ...closed, description: 'Which stack this is' },
    ),
    spec: Type.Object(
      {
        manifests: Type.Array(ManifestPattern, {
          description:
            'Manifests, relative to this file; "!" in front excludes; an empty list means that there are none',
          examples: [['manifests/**/*.yaml', '!manifests/drafts/**']],
        }),
        targets: Type.Array(TargetSchema, {
          minItems: 1,
          description: 'The services that the stack manages',
        }),
        defaults: Type.Optional(
          Type.Unsafe<Record<string, JsonObject> | readonly JsonObject[]>(
            defaultsSchema({ additionalProperties: { type: 'object' } }),
          ),
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
            description: 'Maximum time of a run from its first request',
            default: '1h',
            examples: ['30m'],
          }),
        ),
        embedded: Type.Optional(
          Type.Object(
            {
              seed: text(
                'YAML file with the organizations, pools, keys, tokens and mounts to start with',
                'seed.yaml',
              ),
            },
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
              raise: Type.Optional(
                guardList('Guards that only warn by default and block in this stack', 'new-role'),
              ),
              allow: Type.Optional(
                guardList('Guards that block by default and only warn in this stack', 'recreate'),
              ),
            },
            { ...closed, description: 'How much a plan may change before a guard must be acknowledged' },
          ),
        ),
        approvals: Type.Optional(Approvals),
        policies: Type.Optional(Policies),
        lint: Type.Optional(
          Type.Object(
            {
              raise: Type.Optional(lintList('Findings that are errors in this stack', 'open-role')),
              allow: Type.Optional(
                lintList('Findings that are not reported in this stack', 'certificate-expires'),
              ),
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
  {
    ...closed,
    title: 'Stack',
    description: 'The unit of plan and apply: a name, its targets, its guards',
    examples: [
      {
        apiVersion,
        kind: 'Stack',
        metadata: { name: 'payments' },
        spec: {
          manifests: ['manifests/**/*.yaml'],
          targets: [
            {
              name: 'acme',
              service: 'workspaces',
              url: 'https://workspaces.example.com',
              organization: 'acme',
              token: { env: 'WORKSPACES_TOKEN' },
              dialect: 'neutral',
            },
            {
              name: 'prod-cluster',
              service: 'cluster-auth',
              url: 'https://secrets.example.com',
              mount: 'cluster',
              token: { env: 'SECRETS_TOKEN' },
              dialect: 'neutral',
              owns: ['payments-*'],
            },
          ],
          defaults: defaultsExample,
          ledger: 'git',
        },
      },
    ],
  },
);

export type StackDocument = Static<typeof stackSchema>;

/** The stack's schema for editors, which also knows the fields that `defaults` may hold. */
export function stackDocumentSchema(kinds: Registry): JsonObject {
  const schema = jsonSchema(stackSchema);
  const specs = [...kinds.values()].map((kind) => [kind.name, partialSpecSchema(kind)] as const);
  const defaults = defaultsSchema({ properties: Object.fromEntries(specs), additionalProperties: false });
  const { properties, ...rest } = schema;
  if (!isJsonObject(properties) || !isJsonObject(properties['spec'])) throw new Error('the stack has a spec');
  const spec = properties['spec'];
  const members = { ...(isJsonObject(spec['properties']) ? spec['properties'] : {}), defaults };
  return { ...rest, properties: { ...properties, spec: { ...spec, properties: members } } };
}
