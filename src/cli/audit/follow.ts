/** `trueup audit follow [path]`: each event as it happens, once, until it is told to stop. */
import { type EventFilter, matches, oldestFirst } from '../../audit/trail/filter-events.ts';
import { followTrail } from '../../audit/trail/follow-trail.ts';
import { renderEventLine } from '../../report/audit/events-json.ts';
import { renderEvent } from '../../report/audit/events-text.ts';
import type { CommandContext } from '../command-context.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { connectToAudit } from '../run/connect-audit.ts';
import { printError } from '../terminal/terminal.ts';
import { chooseTrails, trailOf } from './choose-trails.ts';
import { openCursors } from './cursor-file.ts';
import { poll, type PollOptions } from './poll.ts';
import { type AuditContext, withStack } from './with-stack.ts';

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
  const { timeout } = options;
  return withStack(path, context, { timeout, work: (opened) => follow(options, opened) });
}

async function follow(options: AuditFollowOptions, context: AuditContext): Promise<ExitCode> {
  const { stack, host, terminal } = context;
  const targets = chooseTrails(stack, options.target, { live: true });
  if ('code' in targets) {
    printError(terminal, targets.code, targets.message);
    return exitCodes.error;
  }
  // A cursor stands at a time before which all was seen: what is new begins a millisecond after `since`.
  const begin = (options.since ?? host.now()) + 1;
  const cursors = await openCursors(options.cursor, host.cwd);
  const { actor, resource, action } = options;
  const several = { targets: targets.length > 1 };
  return poll(context, options, async (limits) => {
    const { trails, close } = await connectToAudit(stack, targets, host, limits);
    try {
      const looks = trails.map(async ({ target, channel }) => {
        const trail = trailOf(target);
        const known = cursors.of(trail) ?? { from: begin, at: begin, ids: [] };
        const { events, cursor } = await followTrail(channel, known, host.now());
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
