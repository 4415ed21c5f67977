/** The schema of `fleet.yaml`: which repositories have stacks, how often the stacks are checked, and what they may use. */
import { type Static, Type } from 'typebox';
import { apiVersion } from '../../manifest/schema/manifest-schema.ts';
import { labelsSchema } from '../../manifest/schema/label-schema.ts';
import { closed, text } from '../../manifest/schema/place-schemas.ts';
import { freezeSchema } from './apply/freezes.ts';
import { applySchema, grantedVariable, stackPatterns } from './apply/settings.ts';
import { consoleSchema } from './console/settings.ts';
import { notificationSchema } from './notify/settings.ts';
import { quotaSchema } from './rates/quotas.ts';

const interval = Type.String({
  pattern: '^[1-9][0-9]{0,3}[smhd]$',
  patternErrorMessage: 'a number and a unit, such as 30s, 15m, 2h or 1d',
  description: 'Time between two checks of a stack',
  examples: ['15m'],
});

const variable = Type.String(grantedVariable);

const filePatterns = (example: readonly string[]) =>
  stackPatterns(
    'Patterns of stack files, from the root of the repository; **/trueup.yaml if not given',
    example,
  );

/** A file for ssh. Git passes its path to a shell, and ssh expands `%`. */
function sshFile(description: string, example: string) {
  return Type.String({
    pattern: `^/[^'"%\\n]+$`,
    patternErrorMessage: 'an absolute path without quotes and "%"',
    description,
    examples: [example],
  });
}

const Repository = Type.Object(
  {
    name: Type.String({
      pattern: '^[a-z0-9][a-z0-9-]{0,62}$',
      patternErrorMessage: 'lower-case letters, digits and "-", at most 63',
      description:
        'Name of the repository in the fleet. A stack is known by it and by the path of its stack file',
      examples: ['platform'],
    }),
    url: text(
      'Address of the repository, as git takes it. A relative path begins in the folder of this file',
      'https://git.example.com/acme/platform.git',
    ),
    ref: Type.Optional(text('Branch that is checked; main if not given', 'main')),
    stacks: Type.Optional(filePatterns(['teams/*/trueup.yaml'])),
    interval: Type.Optional(interval),
    intervals: Type.Optional(
      Type.Array(
        Type.Object(
          {
            stacks: Type.Optional(filePatterns(['*/production/trueup.yaml'])),
            labels: Type.Optional(
              labelsSchema(
                'Labels that the stacks have, all of them: "metadata.labels" of their stack files',
              ),
            ),
            interval,
          },
          {
            ...closed,
            description:
              'Stacks with an interval of their own: those that match a pattern and have the labels. At least one of both is given',
          },
        ),
        { description: 'Intervals of some of its stacks. The first that matches is used' },
      ),
    ),
    ssh: Type.Optional(
      Type.Object(
        {
          key: sshFile('Private key that git logs in with', '/run/secrets/platform-key'),
          knownHosts: sshFile(
            'Host keys of the code host, in the format of "known_hosts". Any other host key is refused',
            '/etc/trueup/known_hosts',
          ),
        },
        { ...closed, description: 'How git logs in at the repository; as the worker does if not given' },
      ),
    ),
    variables: Type.Optional(
      Type.Array(variable, {
        description: 'Environment variables of the worker that its stacks may use. They get no other ones',
        examples: [['PLATFORM_TOKEN']],
      }),
    ),
    files: Type.Optional(
      Type.Array(Type.String({ pattern: '^/', patternErrorMessage: 'an absolute path' }), {
        description: 'Files of the worker that its stacks may read, such as tokens and certificates',
        examples: [['/run/secrets/platform-token']],
      }),
    ),
    targets: Type.Optional(
      Type.Array(
        // Other addresses have no origin, so they would all be the same.
        Type.String({
          format: 'uri',
          pattern: '^https?://',
          patternErrorMessage: 'an address such as https://app.example.com',
        }),
        {
          description: 'Addresses that its stacks may connect to; any if not given',
          examples: [['https://app.example.com']],
        },
      ),
    ),
    apply: Type.Optional(applySchema),
  },
  { ...closed, description: 'A git repository with stacks' },
);

export const fleetSchema = Type.Object(
  {
    apiVersion: Type.Unsafe<typeof apiVersion>({
      const: apiVersion,
      description: 'Version of the format of this document',
    }),
    kind: Type.Unsafe<'Fleet'>({ const: 'Fleet', description: 'Kind of this document' }),
    metadata: Type.Object(
      { name: text('Name of the fleet', 'acme') },
      { ...closed, description: 'Which fleet this is' },
    ),
    spec: Type.Object(
      {
        interval: Type.Optional(interval),
        webhooks: Type.Optional(
          Type.Object(
            {
              secret: Type.Object(
                { env: text('Environment variable of the worker', 'WEBHOOK_SECRET') },
                { ...closed, description: 'The secret that code hosts sign with (GitHub) or send (GitLab)' },
              ),
            },
            { ...closed, description: 'Webhooks that "--webhooks" listens for: a push is checked at once' },
          ),
        ),
        repositories: Type.Array(Repository, { minItems: 1, description: 'Where the stacks are' }),
        notifications: Type.Optional(
          Type.Array(notificationSchema, { description: 'Where messages about drift are sent' }),
        ),
        quotas: Type.Optional(
          Type.Array(quotaSchema, {
            description: 'Ceilings for the requests of all workers to some targets',
          }),
        ),
        freezes: Type.Optional(
          Type.Array(freezeSchema, { description: 'Times in which workers apply nothing by themselves' }),
        ),
        console: Type.Optional(consoleSchema),
      },
      { ...closed, description: 'What is checked, and how often' },
    ),
  },
  {
    ...closed,
    title: 'Fleet',
    description: 'Stacks of many repositories that workers check for drift',
    examples: [
      {
        apiVersion,
        kind: 'Fleet',
        metadata: { name: 'acme' },
        spec: {
          interval: '15m',
          repositories: [
            {
              name: 'platform',
              url: 'https://git.example.com/acme/platform.git',
              variables: ['PLATFORM_TOKEN'],
              targets: ['https://app.example.com'],
            },
          ],
        },
      },
    ],
  },
);

/** The document of the YAML, after it was checked against the schema. */
export type FleetDocument = Static<typeof fleetSchema>;
