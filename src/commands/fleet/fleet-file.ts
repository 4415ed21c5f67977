/** The schema of `fleet.yaml`, and how it is read: which repositories have stacks, how often they are checked, and what they may use. */
import { dirname, resolve } from 'node:path';
import picomatch from 'picomatch';
import { type Static, Type } from 'typebox';
import { readRegularText, megabyte } from '../../files/read-file.ts';
import { documentProblems } from '../../manifest/explain-errors.ts';
import { diagnose, type Problem } from '../../manifest/problem.ts';
import { apiVersion } from '../../manifest/schema/manifest-schema.ts';
import { closed, text } from '../../manifest/schema/place-schemas.ts';
import { parseDocuments } from '../../manifest/yaml/parse-documents.ts';
import { createSourceText, placeIn, type YamlDocument } from '../../manifest/yaml/yaml-document.ts';
import { jsonSchema } from '../../model/define-kind.ts';
import { type Diagnostic, hasErrors } from '../../model/diagnostic.ts';
import { messageOf, systemErrorMessage } from '../../model/error-message.ts';
import { quoted } from '../../model/quoted.ts';
import { networkProblem } from './console/networks.ts';
import { consoleSchema, type ConsoleSettings } from './console/settings.ts';
import { type Channel, channelsOf, notificationMistakes, notificationSchema } from './notify/settings.ts';

const interval = Type.String({
  pattern: '^[1-9][0-9]{0,3}[smhd]$',
  patternErrorMessage: 'a number and a unit, such as 30s, 15m, 2h or 1d',
  description: 'Time between two checks of a stack',
  examples: ['15m'],
});

const variable = Type.String({
  // The worker's own variables hold the address of its database and its logins.
  pattern: '^(?!TRUEUP_)[A-Za-z_][A-Za-z0-9_]*$',
  patternErrorMessage: 'the name of an environment variable that does not begin with TRUEUP_',
});

function stackPatterns(example: readonly string[]) {
  return Type.Array(
    // Each pattern adds files: one that excludes would add all others.
    Type.String({ pattern: '^[^!]', patternErrorMessage: 'a pattern without "!" in front' }),
    {
      minItems: 1,
      description: 'Patterns of stack files, from the root of the repository; **/trueup.yaml if not given',
      examples: [example],
    },
  );
}

/** Git passes it to a shell, and ssh expands `%`. */
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
    stacks: Type.Optional(stackPatterns(['teams/*/trueup.yaml'])),
    interval: Type.Optional(interval),
    intervals: Type.Optional(
      Type.Array(
        Type.Object(
          { stacks: stackPatterns(['*/production/trueup.yaml']), interval },
          { ...closed, description: 'Stacks with an interval of their own' },
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

type FleetDocument = Static<typeof fleetSchema>;

export interface FleetRepository {
  readonly name: string;
  readonly url: string;
  readonly ref: string;
  /** patterns of stack files */
  readonly stacks: readonly string[];
  /** seconds between two checks of a stack, by the path of its stack file */
  secondsOf(path: string): number;
  /** the files that git logs in with */
  readonly ssh: { readonly key: string; readonly knownHosts: string } | undefined;
  /** environment variables and absolute paths that its stacks may use */
  readonly variables: readonly string[];
  readonly files: readonly string[];
  /** origins that its stacks may connect to; undefined: any */
  readonly targets: readonly string[] | undefined;
}

export interface Fleet {
  readonly name: string;
  readonly repositories: readonly FleetRepository[];
  /** variable with the secret of webhooks */
  readonly webhookSecret: string | undefined;
  /** whom drift is told */
  readonly channels: readonly Channel[];
  /** who may read the console; undefined: callers on its machine */
  readonly console: ConsoleSettings | undefined;
}

const defaultInterval = '15m';

/** @returns no fleet when there are errors among the diagnostics */
export async function readFleet(
  file: string,
): Promise<{ readonly fleet?: Fleet; readonly diagnostics: readonly Diagnostic[] }> {
  let content: string;
  try {
    content = await readRegularText(file, megabyte);
  } catch (error) {
    const why = systemErrorMessage(error) ?? messageOf(error);
    return { diagnostics: [failed(`the fleet file ${quoted(file)} cannot be read: ${why}`)] };
  }
  const { documents, diagnostics } = parseDocuments(createSourceText(file, content));
  const [document, ...others] = documents;
  if (hasErrors(diagnostics)) return { diagnostics };
  if (document === undefined || others.length > 0)
    return { diagnostics: [failed(`${quoted(file)} must hold one document of kind "Fleet"`)] };
  const problems = problemsOf(document);
  if (problems.length > 0) return { diagnostics: problems.map((problem) => diagnosed(problem, document)) };
  // it matches the schema
  return { fleet: fleetOf(document.value as unknown as FleetDocument, dirname(file)), diagnostics };
}

function failed(message: string): Diagnostic {
  return { code: 'fleet-file', severity: 'error', class: 'invalid', message };
}

function problemsOf(document: YamlDocument): Problem[] {
  const broken = documentProblems(document, fleetSchema, jsonSchema(fleetSchema));
  if (broken.length > 0) return broken;
  const {
    repositories,
    notifications = [],
    console: readers,
    webhooks,
  } = (document.value as unknown as FleetDocument).spec;
  const mistakes = notificationMistakes(notifications, repositories).map(
    ({ index, member, message }): Problem => ({
      code: 'fleet-file',
      path: ['spec', 'notifications', `${index}`, member],
      message,
    }),
  );
  const networks = (readers?.trustedHeader.proxies ?? []).flatMap((network, index): Problem[] => {
    const message = networkProblem(network);
    const path = ['spec', 'console', 'trustedHeader', 'proxies', `${index}`];
    return message === undefined ? [] : [{ code: 'fleet-file', path, message }];
  });
  const secret = webhooks?.secret.env;
  const granting = repositories.find(({ variables = [] }) => variables.some((name) => name === secret));
  const granted: Problem[] =
    granting === undefined
      ? []
      : [
          {
            code: 'fleet-file',
            path: ['spec', 'webhooks', 'secret', 'env'],
            message: `the stacks of repository ${quoted(granting.name)} may read ${quoted(`${secret}`)}: webhooks need a secret of their own`,
          },
        ];
  return [...mistakes, ...networks, ...granted, ...repositoryProblems(repositories)];
}

function repositoryProblems(repositories: FleetDocument['spec']['repositories']): Problem[] {
  return repositories.flatMap(({ name, url }, index) => {
    const wrong = (member: string, message: string): Problem[] => [
      { code: 'fleet-file', path: ['spec', 'repositories', `${index}`, member], message },
    ];
    if (repositories.findIndex((other) => other.name === name) !== index)
      return wrong('name', `two repositories have the name ${quoted(name)}: give each its own`);
    // Git keeps it in the checkout, where the stacks can read it.
    if (URL.canParse(url) && holdsLogin(new URL(url)))
      return wrong('url', 'the address holds a password: put it into a credential helper of git');
    return [];
  });
}

/** GitHub and others take a token as the name of the user, too. */
function holdsLogin({ username, password }: URL): boolean {
  return password !== '' || /^(gh[a-z]_|github_pat_|gl[a-z]+-|[0-9a-f]{40}$)/.test(username);
}

function diagnosed(problem: Problem, document: YamlDocument): Diagnostic {
  return diagnose(problem, {
    place: (path, side) => placeIn(document, path, side),
    fromDefaults: () => false,
    isSecret: () => false,
  });
}

/** @param folder of fleet.yaml, where paths of repositories begin */
function fleetOf({ metadata, spec }: FleetDocument, folder: string): Fleet {
  return {
    name: metadata.name,
    webhookSecret: spec.webhooks?.secret.env,
    console: spec.console,
    repositories: spec.repositories.map((given) => ({
      name: given.name,
      // Neither an address nor `host:path`, so git takes it for a path.
      url: given.url.includes(':') ? given.url : resolve(folder, given.url),
      ref: given.ref ?? 'main',
      stacks: given.stacks ?? ['**/trueup.yaml'],
      secondsOf: secondsOf(given, given.interval ?? spec.interval ?? defaultInterval),
      ssh: given.ssh,
      variables: given.variables ?? [],
      files: given.files ?? [],
      targets: given.targets?.map((address) => new URL(address).origin),
    })),
    channels: channelsOf(spec.notifications ?? [], spec.repositories, secondsIn),
  };
}

function secondsOf(
  { intervals = [] }: FleetDocument['spec']['repositories'][number],
  usual: string,
): (path: string) => number {
  const own = intervals.map(({ stacks, interval }) => ({
    matches: picomatch([...stacks], { dot: true, flags: 's' }),
    seconds: secondsIn(interval),
  }));
  const others = secondsIn(usual);
  return (path) => own.find(({ matches }) => matches(path))?.seconds ?? others;
}

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

function secondsIn(duration: string): number {
  return Number(duration.slice(0, -1)) * (unitSeconds[duration.at(-1) ?? 's'] ?? 1);
}
