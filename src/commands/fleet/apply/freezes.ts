/** Times in which a fleet applies nothing by itself: the part `freezes` of `fleet.yaml`. */
import { CronExpressionParser } from 'cron-parser';
import picomatch from 'picomatch';
import { type Static, Type } from 'typebox';
import { closed, text } from '../../../manifest/schema/place-schemas.ts';
import { messageOf } from '../../../model/error-message.ts';
import { quoted } from '../../../model/quoted.ts';
import { stackPatterns } from './settings.ts';

export const freezeSchema = Type.Object(
  {
    name: text('Name of the freeze, as pages and messages show it', 'weekend'),
    schedule: Type.String({
      // Without "H", which means a random time.
      pattern: '^(?!(.* )?H)\\S+( +\\S+){4}$',
      patternErrorMessage: 'a cron expression with five fields, such as 0 18 * * 5',
      description: 'When it begins: minute, hour, day of the month, month and day of the week',
      examples: ['0 18 * * 5'],
    }),
    duration: Type.String({
      pattern: '^[1-9][0-9]{0,3}[mhd]$',
      patternErrorMessage: 'a number and a unit, such as 30m, 62h or 2d',
      description: 'How long it lasts. A day has 24 hours',
      examples: ['62h'],
    }),
    timeZone: Type.Optional(text('Time zone of the schedule; UTC if not given', 'Europe/Berlin')),
    stacks: Type.Optional(
      stackPatterns('Stacks that it is for, as patterns of REPOSITORY/PATH; all if not given', [
        'platform/production/**',
      ]),
    ),
    except: Type.Optional(
      Type.Array(text('A person', 'ann@example.com'), {
        minItems: 1,
        description:
          'People whose approvals count during the freeze, if given after it began: names of accounts of the code host, or email addresses of signatures',
      }),
    ),
  },
  { ...closed, description: 'A time in which workers apply nothing by themselves' },
);

type FreezeDocument = Static<typeof freezeSchema>;

export interface Freeze {
  readonly name: string;
  /** cron expression with five fields, in the time zone */
  readonly schedule: string;
  readonly timeZone: string;
  /** milliseconds */
  readonly duration: number;
  /** @param stack repository and path, with `/` between them */
  includes(stack: string): boolean;
  readonly except: readonly string[];
}

/** All active freezes of one stack, combined. */
export interface ActiveFreeze {
  /** of the one that ends last */
  readonly name: string;
  /** milliseconds since 1970, of the one that began last */
  readonly since: number;
  /** milliseconds since 1970 */
  readonly until: number;
  /** people whose approval counts in each freeze that is active */
  readonly except: readonly string[];
}

/** @returns the first mistake, as a sentence; undefined if there is none */
export function freezeMistake(
  freezes: readonly FreezeDocument[],
):
  | { readonly index: number; readonly member: 'name' | 'schedule' | 'timeZone'; readonly message: string }
  | undefined {
  for (const [index, { name, schedule, timeZone = 'UTC' }] of freezes.entries()) {
    if (freezes.findIndex((other) => other.name === name) !== index)
      return {
        index,
        member: 'name',
        message: `two freezes have the name ${quoted(name)}: give each its own`,
      };
    if (!isTimeZone(timeZone))
      return { index, member: 'timeZone', message: `there is no time zone ${quoted(timeZone)}` };
    try {
      expressionAt({ schedule, timeZone }, 0).next();
    } catch (error) {
      return {
        index,
        member: 'schedule',
        message: `${quoted(schedule)} is not a cron expression: ${messageOf(error)}`,
      };
    }
  }
  return undefined;
}

function isTimeZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
    return true;
  } catch {
    return false;
  }
}

export function freezesOf(
  freezes: readonly FreezeDocument[],
  secondsIn: (duration: string) => number,
): Freeze[] {
  return freezes.map(({ name, schedule, duration, timeZone = 'UTC', stacks = ['**'], except = [] }) => ({
    ...{ name, schedule, timeZone, except },
    duration: secondsIn(duration) * 1000,
    includes: picomatch([...stacks], { dot: true, flags: 's' }),
  }));
}

/** @param now milliseconds since 1970; @returns undefined when nothing is frozen */
export function activeFreeze(
  freezes: readonly Freeze[],
  stack: string,
  now: number,
): ActiveFreeze | undefined {
  const active = freezes.flatMap((freeze) => {
    const window = freeze.includes(stack) ? windowOf(freeze, now) : undefined;
    return window === undefined ? [] : [{ ...freeze, ...window }];
  });
  const last = active.toSorted((one, other) => other.until - one.until)[0];
  if (last === undefined) return undefined;
  const exceptionSets = active.map(({ except }) => new Set(except.map((person) => person.toLowerCase())));
  const except = last.except.filter((person) =>
    exceptionSets.every((some) => some.has(person.toLowerCase())),
  );
  const since = Math.max(...active.map((freeze) => freeze.since));
  return { name: last.name, since, until: last.until, except };
}

/** At most this many overlapping windows count as one. With more, the end is too early, and a look after that end finds the rest. */
const maxWindows = 100;

/** @returns undefined if the freeze is not active. If windows overlap, `since` is the beginning of the last one */
function windowOf(freeze: Freeze, now: number): Pick<ActiveFreeze, 'since' | 'until'> | undefined {
  // "prev" finds times before this one, and a freeze is active from its first moment on.
  const before = expressionAt(freeze, now + 1);
  if (!before.hasPrev()) return undefined;
  const since = before.prev().getTime();
  // "prev" leaves out a begin that daylight saving skips. "next" gives the first moment after the gap, so the loop begins at `since`.
  const later = expressionAt(freeze, since);
  let until = since + freeze.duration;
  for (let windows = 1; windows < maxWindows && later.hasNext(); windows += 1) {
    const next = later.next().getTime();
    if (next > now && (until <= now || next > until)) break;
    until = next + freeze.duration;
  }
  return until <= now ? undefined : { since, until };
}

function expressionAt({ schedule, timeZone }: Pick<Freeze, 'schedule' | 'timeZone'>, time: number) {
  return CronExpressionParser.parse(schedule, { currentDate: new Date(time), tz: timeZone });
}
