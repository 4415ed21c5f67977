/** Reads `fleet.yaml`: which repositories have stacks, how often the stacks are checked, and what they may use. */
import { dirname, resolve } from 'node:path';
import picomatch from 'picomatch';
import { readRegularText, megabyte } from '../../files/read-file.ts';
import { documentProblems } from '../../manifest/explain-errors.ts';
import { diagnose, type Problem } from '../../manifest/problem.ts';
import type { Labels } from '../../manifest/schema/label-schema.ts';
import { parseDocuments } from '../../manifest/yaml/parse-documents.ts';
import { createSourceText, placeIn, type YamlDocument } from '../../manifest/yaml/yaml-document.ts';
import { jsonSchema } from '../../model/define-kind.ts';
import { type Diagnostic, hasErrors } from '../../model/diagnostic.ts';
import { messageOf, systemErrorMessage } from '../../model/error-message.ts';
import { quoted } from '../../model/quoted.ts';
import { applyMistakes, type ApplySettings, applySettingsOf, readableVariables } from './apply/settings.ts';
import { type Freeze, freezeMistake, freezesOf } from './apply/freezes.ts';
import { networkProblem } from './console/networks.ts';
import { oidcMistakes } from './console/oidc-settings.ts';
import type { ConsoleSettings } from './console/settings.ts';
import { type FleetDocument, fleetSchema } from './fleet-schema.ts';
import { hasLabels } from './labels.ts';
import { quotaMistakes, type Quotas, quotasOf } from './rates/quotas.ts';
import { pathMistake, type PatternMistake, repositoryMistake } from './stack-patterns.ts';
import { type Channel, channelsOf, notificationMistakes } from './notify/settings.ts';

export interface FleetRepository {
  readonly name: string;
  readonly url: string;
  readonly ref: string;
  /** patterns of stack files */
  readonly stacks: readonly string[];
  /** seconds between two checks of a stack, by the path of its stack file and its labels */
  secondsOf(path: string, labels?: Labels): number;
  /** the files that git logs in with */
  readonly ssh: { readonly key: string; readonly knownHosts: string } | undefined;
  /** environment variables and absolute paths that its stacks may use */
  readonly variables: readonly string[];
  readonly files: readonly string[];
  /** origins that its stacks may connect to; undefined: any */
  readonly targets: readonly string[] | undefined;
  /** what workers apply; undefined: nothing */
  readonly apply: ApplySettings | undefined;
}

export interface Fleet {
  readonly name: string;
  readonly repositories: readonly FleetRepository[];
  /** variable with the secret of webhooks */
  readonly webhookSecret: string | undefined;
  /** where messages about drift are sent */
  readonly channels: readonly Channel[];
  readonly freezes: readonly Freeze[];
  /** ceilings for the requests to some targets */
  readonly quotas: Quotas;
  /** who may read the console; undefined: only callers on its machine */
  readonly console: ConsoleSettings | undefined;
}

const defaultInterval = '15m';

/** @returns no fleet if the diagnostics have errors */
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
  const { spec } = document.value as unknown as FleetDocument;
  const wrongAddresses = addressProblems(spec);
  if (wrongAddresses.length > 0) return wrongAddresses;
  const { repositories, notifications = [], freezes = [], console: consoleSettings } = spec;
  const freeze = freezeMistake(freezes);
  return [
    ...notificationMistakes(notifications, repositories).map(({ index, member, message }) =>
      problem(['notifications', index, member], message),
    ),
    ...(consoleSettings?.trustedHeader?.proxies ?? []).flatMap((network, index) => {
      const message = networkProblem(network);
      const path = ['console', 'trustedHeader', 'proxies', index];
      return message === undefined ? [] : [problem(path, message)];
    }),
    ...oidcMistakes(consoleSettings?.oidc, repositories).map(({ path, message }) =>
      problem(['console', 'oidc', ...path], message),
    ),
    ...webhookProblems(spec),
    ...quotaMistakes(
      spec.quotas ?? [],
      repositories.map(({ targets }) => targets),
    ).map(({ index, message }) => problem(['quotas', index, 'target'], message)),
    ...applyMistakes(repositories).map(({ index, message }) =>
      problem(['repositories', index, 'apply'], message),
    ),
    ...(freeze === undefined ? [] : [problem(['freezes', freeze.index, freeze.member], freeze.message)]),
    ...repositoryProblems(repositories),
    ...repositories.flatMap(intervalProblems),
    ...patternProblems(spec),
  ];
}

/** Invalid addresses. They are checked before anything else reads them. */
function addressProblems({
  repositories,
  quotas = [],
  notifications = [],
}: FleetDocument['spec']): Problem[] {
  const check = (path: readonly (string | number)[], address: string | undefined) => {
    const message = address === undefined ? undefined : addressMistake(address);
    return message === undefined ? [] : [problem(path, message)];
  };
  return [
    ...repositories.flatMap(({ targets = [], apply }, index) => [
      ...targets.flatMap((address, entry) => check(['repositories', index, 'targets', entry], address)),
      ...check(['repositories', index, 'apply', 'github', 'url'], apply?.github?.url),
      ...check(['repositories', index, 'apply', 'gitlab', 'url'], apply?.gitlab?.url),
    ]),
    ...quotas.flatMap(({ target }, index) => check(['quotas', index, 'target'], target)),
    ...notifications.flatMap(({ github, gitlab, webhook }, index) => [
      ...check(['notifications', index, 'github', 'url'], github?.url),
      ...check(['notifications', index, 'gitlab', 'url'], gitlab?.url),
      ...check(['notifications', index, 'webhook', 'url'], webhook?.url),
    ]),
  ];
}

function addressMistake(address: string): string | undefined {
  if (!URL.canParse(address)) return 'this is not a valid address: write one such as https://app.example.com';
  const { username, password, hostname } = new URL(address);
  if (username !== '' || password !== '') return 'the address holds a login: remove it';
  if (hostname.includes('*')) return 'an address names one host: write each of them, without "*"';
  return undefined;
}

/** @param path below `spec` */
function problem(path: readonly (string | number)[], message: string): Problem {
  return { code: 'fleet-file', path: ['spec', ...path.map(String)], message };
}

function webhookProblems({ webhooks, repositories }: FleetDocument['spec']): Problem[] {
  const secret = webhooks?.secret.env;
  const granting = repositories.find((one) => readableVariables(one).some((name) => name === secret));
  if (granting === undefined) return [];
  return [
    problem(
      ['webhooks', 'secret', 'env'],
      `the stacks of repository ${quoted(granting.name)} may read ${quoted(`${secret}`)}: webhooks need a secret of their own`,
    ),
  ];
}

function repositoryProblems(repositories: FleetDocument['spec']['repositories']): Problem[] {
  return repositories.flatMap(({ name, url }, index) => {
    const wrong = (member: string, message: string) => [problem(['repositories', index, member], message)];
    if (repositories.findIndex((other) => other.name === name) !== index)
      return wrong('name', `two repositories have the name ${quoted(name)}: give each its own`);
    // Git stores the address in the checkout, where the stacks can read it.
    if (URL.canParse(url) && holdsLogin(new URL(url)))
      return wrong('url', 'the address holds a password: put it into a credential helper of git');
    return [];
  });
}

function intervalProblems(
  { intervals = [] }: FleetDocument['spec']['repositories'][number],
  index: number,
): Problem[] {
  return intervals.flatMap(({ stacks, labels }, entry) =>
    stacks === undefined && labels === undefined
      ? [
          problem(
            ['repositories', index, 'intervals', entry],
            'this interval does not say which stacks it is for: add "stacks" or "labels"',
          ),
        ]
      : [],
  );
}

/** Problems of patterns that cannot match any stack. */
function patternProblems({
  repositories,
  freezes = [],
  console: consoleSettings,
}: FleetDocument['spec']): Problem[] {
  const names = repositories.map(({ name }) => name);
  const mistakesOf = (
    path: readonly (string | number)[],
    patterns: readonly string[] | undefined,
    mistakeIn: (pattern: string) => PatternMistake | undefined,
  ) =>
    (patterns ?? []).flatMap((pattern, index) => {
      const mistake = mistakeIn(pattern);
      return mistake === undefined ? [] : [{ ...problem([...path, index], mistake.message), ...mistake }];
    });
  return [
    ...freezes.flatMap(({ stacks }, index) =>
      mistakesOf(['freezes', index, 'stacks'], stacks, (one) => repositoryMistake(one, names, 'freeze')),
    ),
    ...Object.entries(consoleSettings?.teams ?? {}).flatMap(([team, { stacks }]) =>
      mistakesOf(['console', 'teams', team, 'stacks'], stacks, (one) =>
        repositoryMistake(one, names, 'team'),
      ),
    ),
    ...repositories.flatMap(({ stacks, intervals = [], apply }, index) => [
      ...mistakesOf(['repositories', index, 'stacks'], stacks, pathMistake),
      ...intervals.flatMap((interval, entry) =>
        mistakesOf(['repositories', index, 'intervals', entry, 'stacks'], interval.stacks, pathMistake),
      ),
      ...mistakesOf(['repositories', index, 'apply', 'stacks'], apply?.stacks, pathMistake),
    ]),
  ];
}

/** Whether an address has a password or a token. GitHub and others accept a token as the user name. */
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
      // Without a colon, it is neither an address nor `host:path`, and git takes it for a path.
      url: given.url.includes(':') ? given.url : resolve(folder, given.url),
      ref: given.ref ?? 'main',
      stacks: given.stacks ?? ['**/trueup.yaml'],
      secondsOf: secondsOf(given, given.interval ?? spec.interval ?? defaultInterval),
      ssh: given.ssh,
      variables: given.variables ?? [],
      files: given.files ?? [],
      targets: given.targets?.map((address) => new URL(address).origin),
      apply: applySettingsOf(given),
    })),
    quotas: quotasOf(spec.quotas ?? []),
    freezes: freezesOf(spec.freezes ?? [], secondsIn),
    channels: channelsOf(metadata.name, spec.notifications ?? [], spec.repositories, secondsIn),
  };
}

function secondsOf(
  { intervals = [] }: FleetDocument['spec']['repositories'][number],
  usual: string,
): FleetRepository['secondsOf'] {
  const exceptions = intervals.map(({ stacks = ['**'], labels = {}, interval }) => ({
    matches: picomatch([...stacks], { dot: true, flags: 's' }),
    labels,
    seconds: secondsIn(interval),
  }));
  const usualSeconds = secondsIn(usual);
  return (path, labels = {}) =>
    exceptions.find((one) => one.matches(path) && hasLabels(labels, one.labels))?.seconds ?? usualSeconds;
}

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

function secondsIn(duration: string): number {
  return Number(duration.slice(0, -1)) * (unitSeconds[duration.at(-1) ?? 's'] ?? 1);
}
