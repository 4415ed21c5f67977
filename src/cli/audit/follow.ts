/** `trueup audit follow [path]`: each event as it happens, once, until it is told to stop. */
import { type EventFilter, matches, oldestFirst } from '../../audit/trail/filter-events.ts';
import { cursorAfter, cursorFromNow, followTrail, type TrailCursor } from '../../audit/trail/follow-trail.ts';
import type { TrailChannel } from '../../model/audit-trail.ts';
import { renderEventLine } from '../../report/audit/events-json.ts';
import { renderEvent } from '../../report/audit/events-text.ts';
import type { CliHost } from '../cli-host.ts';
import type { CommandContext } from '../command-context.ts';
import type { ExitCode } from '../exit-codes.ts';
import { connectToAudit } from '../run/connect-audit.ts';
import { trailOf } from './choose-trails.ts';
import { openCursors } from './cursor-file.ts';
import { Organizations } from './organization-of.ts';
import { poll, type PollOptions } from './poll.ts';
import { type AuditContext, withTrails } from './with-trails.ts';

export interface AuditFollowOptions extends Omit<EventFilter, 'until'>, PollOptions {
  readonly target?: string | undefined;
  /** a file that keeps how far the trails were followed, so that a later run goes on there */
  readonly cursor?: string | undefined;
  /** JSON with a line for each event */
  readonly lines: boolean;
  /** seconds that a look may take */
  readonly timeout?: number | undefined;
}

export async function auditFollow(
  path: string | undefined,
  options: AuditFollowOptions,
  context: CommandContext,
): Promise<ExitCode> {
  return withTrails(path, { ...options, live: true }, context, (opened) => follow(options, opened));
}

async function follow(options: AuditFollowOptions, context: AuditContext): Promise<ExitCode> {
  const { stack, host, targets } = context;
  const cursors = await openCursors(options.cursor, host.cwd);
  const { actor, resource, action } = options;
  const organizations = new Organizations(context);
  const several = { targets: targets.length > 1 };
  return poll(context, options, async (limits) => {
    const { trails, close } = await connectToAudit(stack, targets, host, limits);
    try {
      const looks = trails.map(async ({ target, channel }) => {
        const trail = trailOf(target);
        const known = cursors.of(trail) ?? (await beginAt(options.since, channel, host));
        const { events, cursor } = await followTrail(channel, known, host.now());
        await organizations.check(target, events, limits);
        return { trail, cursor, events: events.map((event) => ({ target: target.name, event })) };
      });
      const found = await Promise.all(looks);
      const events = found.flatMap((each) => each.events);
      for (const each of events.sort((one, other) => oldestFirst(one.event, other.event))) {
        if (!matches(each.event, { actor, resource, action })) continue;
        host.stdout.write(`${options.lines ? renderEventLine(each) : renderEvent(each, several)}\n`);
      }
      await cursors.keep(new Map(found.map(({ trail, cursor }) => [trail, cursor])));
    } finally {
      await close();
    }
  });
}

async function beginAt(
  since: number | undefined,
  channel: TrailChannel,
  { now }: Pick<CliHost, 'now'>,
): Promise<TrailCursor> {
  return since === undefined ? cursorFromNow(channel, now()) : cursorAfter(since);
}
