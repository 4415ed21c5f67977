/**
 * The schema of a Workspace's spec: the source of its type and of the JSON Schema for editors. A field admits `null` only if
 * the service's default is a fixed value.
 */
import { type Static, Type } from 'typebox';
import { nullable } from '../../model/nullable.ts';
import type { Declared } from '../../model/kind-specs.ts';
import { flag, vcsRepo } from './repository-schema.ts';

const paths = (description: string, example: string[]) =>
  Type.Optional(
    nullable(
      Type.Array(Type.String({ minLength: 1 }), {
        description: `${description} Only one of triggerPrefixes, triggerPatterns and vcsRepo.tagsRegex can be set. null: [].`,
        examples: [example],
      }),
    ),
  );

const executionFields = {
  executionMode: Type.Optional(
    nullable(
      Type.Enum(['remote', 'local', 'agent'], {
        type: 'string',
        description:
          'Where runs execute: "remote", "local" (the service only keeps state) or "agent". null: inherited from the project or the organization.',
      }),
    ),
  ),
  agentPoolId: Type.Optional(
    nullable(
      Type.String({
        minLength: 1,
        description:
          'Id of the agent pool that executes runs. Required with executionMode "agent", not allowed with any other. null: none.',
        examples: ['apool-1'],
      }),
    ),
  ),
  agentPool: Type.Optional(
    nullable(
      Type.String({
        minLength: 1,
        description: 'Name of the agent pool that executes runs, in place of agentPoolId. null: none.',
        examples: ['linux'],
      }),
    ),
  ),
  operations: Type.Optional(
    nullable(
      Type.Boolean({
        deprecated: true,
        description:
          'Deprecated by the API: use executionMode, which this is converted to: true is "remote", false is "local". Not allowed together with executionMode. null: true.',
      }),
    ),
  ),
  settingOverwrites: Type.Optional(
    Type.Object(
      {
        executionMode: Type.Optional(
          Type.Boolean({
            description:
              'true: the workspace has its own execution mode, which executionMode must set. false: it inherits.',
          }),
        ),
        agentPool: Type.Optional(
          Type.Boolean({
            description: 'true: the workspace has its own agent pool. false: it inherits.',
          }),
        ),
      },
      {
        additionalProperties: false,
        minProperties: 1,
        description:
          'Which settings are the workspace\'s own instead of inherited. Rarely needed: a value of executionMode implies true, and "executionMode: null" means false.',
      },
    ),
  ),
};

const runFields = {
  allowDestroyPlan: flag('Whether destroy plans can be queued.', true),
  assessmentsEnabled: flag(
    'Whether health assessments run. Only the hosted service has them, and the organization can enforce them.',
    false,
  ),
  autoApply: flag('Whether a successful plan is applied without asking.', false),
  autoApplyRunTrigger: flag(
    'Whether a successful plan is applied without asking, for runs that a run trigger started.',
    false,
  ),
  autoDestroyAt: Type.Optional(
    nullable(
      Type.String({
        description:
          'When the next destroy run starts: an ISO 8601 timestamp with its time zone. The service keeps whole minutes. null: none.',
        examples: ['2030-01-31T08:00:00Z'],
      }),
    ),
  ),
  autoDestroyActivityDuration: Type.Optional(
    nullable(
      Type.String({
        description:
          'After how long without activity a destroy run starts: 1 to 9999 and the unit "d" or "h", such as "14d". The service computes the time from it. null: none.',
        examples: ['14d'],
      }),
    ),
  ),
  engineVersion: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Version of the engine, exact or a constraint such as "~> 1.9.0". Left out when the workspace is created: the latest release.',
      examples: ['~> 1.9.0'],
    }),
  ),
  queueAllRuns: flag('Whether runs are queued right after creation, before one was queued by hand.', false),
  speculativeEnabled: flag('Whether speculative plans start by themselves, such as on pull requests.', true),
  structuredRunOutputEnabled: flag(
    'Whether the service shows the output of runs as structured data instead of plain text. Not every dialect has this field.',
    true,
  ),
  workingDirectory: Type.Optional(
    nullable(
      Type.String({
        description: 'The directory below the root of the repository to execute in. "" or null: the root.',
        examples: ['environments/prod'],
      }),
    ),
  ),
};

const triggerFields = {
  fileTriggersEnabled: flag(
    'true: a push starts a run only when it changes files under triggerPrefixes or matching triggerPatterns; false: every push does.',
    true,
  ),
  triggerPatterns: paths(
    'Glob patterns of the files whose changes start a run, from the root of the repository.',
    ['/network/**/*'],
  ),
  triggerPrefixes: paths('Paths below which changes start a run, besides the working directory.', [
    'modules',
  ]),
};

const sourceFields = {
  sourceName: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'Name of the client that created the workspace. Set only at creation. Left out: "trueup/<stack>", the creator mark that shows which stack created it.',
      examples: ['portal'],
    }),
  ),
  sourceUrl: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'URL of that client, or of what the workspace was created for. Set only at creation.',
      examples: ['https://portal.example.com/orders/17'],
    }),
  ),
};

const relationFields = {
  projectId: Type.Optional(
    Type.String({
      minLength: 1,
      // A text with slashes is the address of a project that the same plan creates.
      pattern: '^[^/]+$',
      description:
        'Id of the project that the workspace is in; a change moves it. Left out when it is created: the default project.',
      examples: ['prj-1'],
    }),
  ),
  project: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Name of the project that the workspace is in, in place of projectId; a change moves it.',
      examples: ['payments'],
    }),
  ),
  sshKey: Type.Optional(
    nullable(
      Type.String({
        minLength: 1,
        description: 'Name of the SSH key that fetches modules, in place of sshKeyId. null: none.',
        examples: ['modules'],
      }),
    ),
  ),
  sshKeyId: Type.Optional(
    nullable(
      Type.String({
        minLength: 1,
        description: 'Id of the SSH key that fetches modules. null: none.',
        examples: ['sshkey-1'],
      }),
    ),
  ),
  tagNames: Type.Optional(
    nullable(
      Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
        description:
          'The flat tags, all of them: letters, digits, ":", "-" and "_", kept in lower case; order does not count. Key-value tags are tags. null: [].',
        examples: [['network', 'prod']],
      }),
    ),
  ),
  lock: Type.Optional(
    nullable(
      Type.Object(
        {
          reason: Type.Optional(
            Type.String({
              description: 'Shown to users who see the lock. Sent when trueup locks, never compared.',
              examples: ['frozen until the audit is over'],
            }),
          ),
        },
        {
          additionalProperties: false,
          description:
            'Present, also as {}: the workspace must be locked, by anyone. Removing the field has the same effect as null. null: unlocked, if trueup holds the lock; the lock of anyone else is left alone.',
        },
      ),
    ),
  ),
  dataRetentionPolicy: Type.Optional(
    nullable(
      Type.Object(
        {
          deleteOlderThanNDays: Type.Optional(
            Type.Integer({
              minimum: 1,
              description: 'Delete backing data older than this many days.',
              examples: [90],
            }),
          ),
          dontDelete: Type.Optional(
            Type.Boolean({
              enum: [true],
              description: 'Keep all data, even if the policy of the organization deletes it.',
            }),
          ),
        },
        {
          additionalProperties: false,
          minProperties: 1,
          maxProperties: 1,
          description:
            'How long old data is kept; one of its two fields. Only the self-hosted service has it, so it is refused on the hosted one. null: the policy of the organization.',
        },
      ),
    ),
  ),
};

const shortForms = {
  tags: Type.Optional(
    Type.Unsafe<Record<string, string | null> | null>({
      type: ['object', 'null'],
      additionalProperties: { type: ['string', 'null'] },
      description:
        'Key-value tags, all that are bound to the workspace itself. Short for a TagBindings document of the same name. null: {}.',
      examples: [{ env: 'prod' }],
    }),
  ),
  remoteStateConsumers: Type.Optional(
    nullable(
      Type.Array(Type.String({ minLength: 1 }), {
        description:
          "Names of the workspaces that may read this one's state, all of them. Short for a RemoteStateConsumers document of the same name. null: [].",
        examples: [['app-prod', 'app-staging']],
      }),
    ),
  ),
};

export const workspaceSpec = Type.Object(
  {
    description: Type.Optional(
      nullable(
        Type.String({
          description: 'What the workspace is for. "" or null: none.',
          examples: ['Network of the production environment'],
        }),
      ),
    ),
    ...executionFields,
    ...runFields,
    vcsRepo,
    ...triggerFields,
    globalRemoteState: flag(
      'true: every workspace of the organization may read the state; false: only remoteStateConsumers.',
      false,
    ),
    ...relationFields,
    ...sourceFields,
    ...shortForms,
  },
  {
    additionalProperties: false,
    description:
      'One workspace. A field that is left out is not managed; null asks for the default of the service.',
    examples: [
      {
        executionMode: 'agent',
        agentPoolId: 'apool-1',
        vcsRepo: { identifier: 'acme/network', oauthTokenId: 'ot-1', branch: 'main' },
        tags: { env: 'prod', team: 'network' },
        remoteStateConsumers: ['app-prod', 'app-staging'],
      },
    ],
  },
);

export type WorkspaceSpec = Declared<Static<typeof workspaceSpec>>;
