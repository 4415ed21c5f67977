/** Where messages about drift are sent: the part `notifications` of `fleet.yaml`, and the places that it names. */
import { type Static, Type } from 'typebox';
import { closed } from '../../../manifest/schema/place-schemas.ts';
import { quoted } from '../../../model/quoted.ts';
import { type NamedRepository, readableVariables } from '../apply/settings.ts';
import {
  address,
  codeHostApi,
  githubPlace,
  gitlabPlace,
  otherHost,
  repositoryIn,
  workerSecret,
} from '../apply/places.ts';
import { channelKey } from './channel-keys.ts';

export const notificationSchema = Type.Object(
  {
    name: Type.String({
      pattern: '^[a-z0-9][a-z0-9-]{0,62}$',
      patternErrorMessage: 'lower-case letters, digits and "-", at most 63',
      description: 'Name in the fleet. What was sent is recorded under it',
      examples: ['issues'],
    }),
    github: Type.Optional(
      githubPlace(
        'One issue for each stack with drift, in GitHub',
        'Repository of the issues; that of each stack if not given',
        'Token that may write issues',
      ),
    ),
    gitlab: Type.Optional(
      gitlabPlace(
        'One issue for each stack with drift, in GitLab',
        'Project of the issues; that of each stack if not given',
        'Token that may write issues',
      ),
    ),
    webhook: Type.Optional(
      Type.Object(
        {
          url: address('Where messages are posted as JSON', 'https://chat.example.com/hooks/trueup'),
          secret: workerSecret('Secret of the signature', 'HOOK_SECRET'),
        },
        { ...closed, description: 'A signed message for each drift that begins, changes or ends' },
      ),
    ),
    repositories: Type.Optional(
      Type.Array(Type.String(), {
        minItems: 1,
        description: 'Names of repositories whose stacks it is for; all if not given',
        examples: [['platform']],
      }),
    ),
    hold: Type.Optional(
      Type.String({
        pattern: '^(0|[1-9][0-9]{0,3})[smhd]$',
        patternErrorMessage: 'a number and a unit, such as 0s, 10m or 1h',
        description: 'No message is sent for drift that ends within this time; 10m if not given',
        examples: ['10m'],
      }),
    ),
    digestAbove: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        description:
          'When more stacks than this begin to drift at once, one message lists them all; 20 if not given',
        examples: [20],
      }),
    ),
  },
  {
    ...closed,
    description: 'Where messages about drift are sent: exactly one of github, gitlab and webhook',
  },
);

type NotificationDocument = Static<typeof notificationSchema>;

type Receiver =
  | {
      readonly is: 'github' | 'gitlab';
      /** of the API, without a trailing slash */
      readonly url: string;
      /** `owner/name`, or a project */
      readonly repository: string;
      /** name of the variable with the token */
      readonly secret: string;
    }
  | { readonly is: 'webhook'; readonly url: string; readonly secret: string };

/** One place that gets messages about the stacks of some repositories. */
export interface Channel {
  /** under which the database records what was sent to the channel. A new place has a new key, so nothing counts as sent to it */
  readonly key: string;
  readonly to: Receiver;
  readonly repositories: readonly string[];
  /** seconds */
  readonly hold: number;
  readonly digestAbove: number;
  /** pauses of targets are reported to one place of each notification */
  readonly reportsPauses: boolean;
}

/** A mistake in one member of one notification. */
interface Mistake {
  readonly index: number;
  readonly member: string;
  readonly message: string;
}

export function notificationMistakes(
  notifications: readonly NotificationDocument[],
  repositories: readonly NamedRepository[],
): Mistake[] {
  return notifications.flatMap((notification, index) => {
    const { name, repositories: wanted = [] } = notification;
    const wrong = (member: string, message: string): Mistake[] => [{ index, member, message }];
    if (notifications.findIndex((other) => other.name === name) !== index)
      return wrong('name', `two notifications have the name ${quoted(name)}: give each its own`);
    const places = [notification.github, notification.gitlab, notification.webhook].filter(Boolean);
    if (places.length !== 1)
      return wrong('name', 'a notification has exactly one of "github", "gitlab" and "webhook"');
    const unknown = wanted.find((one) => !repositories.some((repository) => repository.name === one));
    if (unknown !== undefined) return wrong('repositories', `there is no repository ${quoted(unknown)}`);
    const secret = secretOf(notification);
    const granting = repositories.find((one) => readableVariables(one).includes(secret));
    if (granting !== undefined)
      return wrong(
        'name',
        `repository ${quoted(granting.name)} may use ${quoted(secret)}, so its stacks could send messages: use another variable`,
      );
    return placeMistake(notification, repositories, wrong);
  });
}

function placeMistake(
  notification: NotificationDocument,
  repositories: readonly NamedRepository[],
  wrong: (member: string, message: string) => Mistake[],
): Mistake[] {
  const { github, gitlab } = notification;
  const member = github === undefined ? 'project' : 'repository';
  if (notification.webhook !== undefined || (github?.repository ?? gitlab?.project) !== undefined) return [];
  const place = github === undefined ? 'gitlab' : 'github';
  const all = chooseRepositories(notification, repositories);
  const withoutPlace = all.find(({ url }) => repositoryIn(url) === undefined);
  if (withoutPlace !== undefined)
    return wrong(
      place,
      `the address of repository ${quoted(withoutPlace.name)} does not say where its issues are: add ${quoted(member)}`,
    );
  // A token must not be sent to the API of another code host.
  for (const { name, url } of all) {
    const other = otherHost(url, notification);
    if (other !== undefined) return wrong(place, `repository ${quoted(name)} ${other}`);
  }
  return [];
}

function chooseRepositories<R extends { readonly name: string }>(
  { repositories: wanted }: NotificationDocument,
  repositories: readonly R[],
): R[] {
  return repositories.filter(({ name }) => wanted?.includes(name) ?? true);
}

function secretOf({ github, gitlab, webhook }: NotificationDocument): string {
  return (github ?? gitlab)?.token.env ?? webhook?.secret.env ?? '';
}

/** @param fleet its name */
export function channelsOf(
  fleet: string,
  notifications: readonly NotificationDocument[],
  repositories: readonly NamedRepository[],
  secondsIn: (duration: string) => number,
): Channel[] {
  return notifications.flatMap((notification): Channel[] => {
    const { name, github, gitlab, webhook, hold = '10m', digestAbove = 20 } = notification;
    const shared = { hold: secondsIn(hold), digestAbove };
    const all = chooseRepositories(notification, repositories);
    const secret = secretOf(notification);
    if (webhook !== undefined) {
      const to = { is: 'webhook', url: webhook.url, secret } as const;
      return [
        {
          ...shared,
          key: channelKey(fleet, name),
          to,
          repositories: all.map((one) => one.name),
          reportsPauses: true,
        },
      ];
    }
    const api = codeHostApi({ github, gitlab });
    if (api === undefined) return [];
    const { is, url, repository: given } = api;
    const byPlace = Map.groupBy(all, (one) => given ?? repositoryIn(one.url) ?? '');
    return [...byPlace].map(([repository, some], index) => ({
      ...shared,
      key: channelKey(fleet, `${name} ${repository}`),
      to: { is, url, repository, secret } as const,
      repositories: some.map((one) => one.name),
      reportsPauses: index === 0,
    }));
  });
}
