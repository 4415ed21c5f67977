/** `trueup audit archive [path]`: keeps the audit trails of a stack for longer than their services do. */
import type { Archive } from '../../audit/archive/archive.ts';
import { archiveTrail, type TrailCheck } from '../../audit/archive/archive-trail.ts';
import type { TrailEvent } from '../../model/audit-trail.ts';
import { redactEvent } from '../../model/redaction/stored-values.ts';
import { counted } from '../../model/counted.ts';
import { quoted } from '../../model/quoted.ts';
import { renderArchivedJson, timeText } from '../../report/audit/events-json.ts';
import type { CommandContext } from '../command-context.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { connectToAudit } from '../run/connect-audit.ts';
import type { ConnectionLimits } from '../run/connect.ts';
import { openDeadline } from '../stop/deadline.ts';
import { printError, printJson, printWarnings } from '../terminal/terminal.ts';
import { trailOf } from './choose-trails.ts';
import { gapWarning } from './gap-warning.ts';
import { namedArchive, openArchive } from './open-archive.ts';
import { Organizations } from './organization-of.ts';
import { poll, type PollOptions } from './poll.ts';
import { type AuditContext, withTrails } from './with-trails.ts';

export interface AuditArchiveOptions extends PollOptions {
  readonly target?: string | undefined;
  /** a file, or `postgres`; the archive of the stack when absent */
  readonly to?: string | undefined;
  /** look again and again, until it is told to stop */
  readonly follow?: boolean | undefined;
  /** seconds that a look may take */
  readonly timeout?: number | undefined;
}

export async function auditArchive(
  path: string | undefined,
  options: AuditArchiveOptions,
  context: CommandContext,
): Promise<ExitCode> {
  return withTrails(path, { ...options, live: true }, context, (opened) => archive(options, opened));
}

async function archive(options: AuditArchiveOptions, context: AuditContext): Promise<ExitCode> {
  const { stack, host, terminal, stops } = context;
  const place = namedArchive(options.to, stack, host) ?? stack.audit?.archive;
  if (place === undefined) {
    printError(
      terminal,
      'no-archive',
      `it is not said where to: pass --to FILE.db or --to postgres, or name an archive in "spec.audit.archive" of stack ${quoted(stack.name)}`,
    );
    return exitCodes.error;
  }
  const opened = await openArchive(place, { directory: stack.directory, host, run: stops });
  try {
    const looking = { ...context, archive: opened, organizations: new Organizations(context) };
    if (!options.follow) return await pollArchive(looking);
    return await poll(context, options, async (limits) => {
      for (const each of await pollAll(looking, limits)) tell(each, context, { quiet: true });
    });
  } finally {
    await opened.close();
  }
}

interface PollContext extends AuditContext {
  readonly archive: Archive;
  readonly organizations: Organizations;
}

interface PollResult extends TrailCheck {
  readonly target: string;
}

async function pollArchive(looking: PollContext): Promise<ExitCode> {
  const { stack, host, stops, terminal, archive: kept, began } = looking;
  const deadline = openDeadline(stack.timeout, { now: host.now, began });
  try {
    const signal = AbortSignal.any([stops.over, deadline.over]);
    const looked = await pollAll(looking, { deadline, signal, leave: stops.leave });
    for (const each of looked) tell(each, looking, { quiet: false });
    const trails = looked.map(({ target, added, head, gap }) => ({
      target,
      added,
      newest: head.cursor?.at,
      gap,
    }));
    printJson(terminal, (reported) =>
      renderArchivedJson({ stack: stack.name, archive: kept.place, trails }, reported),
    );
    return exitCodes.done;
  } catch (error) {
    if (stops.over.aborted) return exitCodes.interrupted;
    throw error;
  } finally {
    deadline.clear();
  }
}

/** One after the other: what one of them has kept stays, whatever becomes of the next. */
async function pollAll(
  { stack, host, targets, archive: kept, organizations }: PollContext,
  limits: ConnectionLimits,
) {
  const { trails, close } = await connectToAudit(stack, targets, host, limits);
  try {
    const looked: PollResult[] = [];
    for (const { target, channel } of trails) {
      const clean = (event: TrailEvent) => redactEvent(event, host.clean);
      const organization = () => organizations.of(target, limits);
      const look = { channel, archive: kept, trail: trailOf(target), now: host.now(), organization, clean };
      looked.push({ target: target.name, ...(await archiveTrail(look)) });
    }
    return looked;
  } finally {
    await close();
  }
}

/** @param options.quiet a look that found nothing is not worth a line */
function tell(
  { target, added, head, gap }: PollResult,
  { terminal }: AuditContext,
  { quiet }: { readonly quiet: boolean },
): void {
  if (gap !== undefined) printWarnings(terminal, [gapWarning({ ...gap, target })]);
  if (terminal.format === 'json' || (quiet && added === 0)) return;
  const newest = head.cursor === undefined ? '' : `, up to ${timeText(head.cursor.at)}`;
  terminal.host.stdout.write(`${target}: ${counted(added, 'new event')}${newest}\n`);
}
