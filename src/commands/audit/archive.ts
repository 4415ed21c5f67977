/** `trueup audit archive [path]`: keeps the audit trails of a stack longer than their services do. */
import type { Archive, ArchiveHead, TrailGap } from '../../audit-trail/archive.ts';
import { readTrail, refuseForeign } from '../../audit-trail/read-trail.ts';
import {
  type TrailChannel,
  TrailError,
  type TrailEvent,
  trailOverlap,
  trailRetention,
} from '../../model/audit-trail.ts';
import { counted, quoted } from '../../model/quoted.ts';
import { redactEvent } from '../../redaction/stored-values.ts';
import { type ConnectionLimits, connectToAudit } from '../../run/connect.ts';
import { openDeadline } from '../../run/stop-signals.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { type ExitCode, exitCodes } from '../../run/exit-codes.ts';
import { namedArchive, openArchive } from '../../run/trail-events.ts';
import { type CommandContext, printJson, printWarnings } from '../../run/terminal.ts';
import { poll, type PollOptions } from './follow.ts';
import { gapWarning, renderArchivedJson, timeText } from './render.ts';
import { type AuditContext, Organizations, trailOf, withTrails } from './trails.ts';

export interface AuditArchiveOptions extends PollOptions {
  readonly target?: string | undefined;
  /** a file, or `postgres`; the archive of the stack when absent */
  readonly to?: string | undefined;
  /** poll until it is stopped */
  readonly follow?: boolean | undefined;
  /** seconds that a poll may take */
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
  const { stack, host, stops } = context;
  const place = namedArchive(options.to, stack, host) ?? stack.audit?.archive;
  if (place === undefined)
    throw new CommandStop(
      'no-archive',
      `it is not said where to: pass --to FILE.db or --to postgres, or name an archive in "spec.audit.archive" of stack ${quoted(stack.name)}`,
    );
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
    const runEnded = AbortSignal.any([stops.runEnded, deadline.passed]);
    const looked = await pollAll(looking, { ...stops, deadline, runEnded });
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
    throw stops.runEnded.aborted ? CommandStop.reported(exitCodes.interrupted) : error;
  } finally {
    deadline.clear();
  }
}

/** One after the other: what one of them has stored stays when the next one fails. */
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

/** @param options.quiet prints nothing for a poll without new events */
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

// Archives a trail: one poll reads it, page by page, from some time before the last event that the archive has, because some appear
// late. Each page is stored at once; the cursor moves with the last one, when nothing can be missing. A poll that is killed is repeated,
// and reads again what it had stored.

interface ArchivedTrail {
  readonly channel: TrailChannel;
  readonly archive: Archive;
  /** the trail's name in the archive */
  readonly trail: string;
  /** the time here, in milliseconds since 1970; what is kept is by the clock of the service, where its time is known */
  readonly now: number;
  /** the opaque id of the target's organization; undefined where it is not known. Asked for only while the archive does not know it */
  readonly organization: () => Promise<string | undefined>;
  /** what is kept of an event: without the secrets that the run knows */
  readonly clean: (event: TrailEvent) => TrailEvent;
}

/** What one poll has added. */
interface TrailCheck {
  readonly added: number;
  readonly head: ArchiveHead;
  readonly gap?: TrailGap;
}

/** @throws TrailError when not all could be read, WireError, ArchiveError */
export async function archiveTrail(archived: ArchivedTrail): Promise<TrailCheck> {
  const { channel, archive, trail, clean } = archived;
  const known = await archive.head(trail);
  const from = known && provenUntil(known);
  const reading = readTrail(channel, from === undefined ? {} : { since: from - trailOverlap - 1 });
  const seen = new Sight(known, () => archived.organization());
  let added = 0;
  let held: readonly TrailEvent[] = [];
  for (;;) {
    const { done, value } = await reading.next();
    if (!done) {
      await seen.add(value);
      if (held.length > 0) added += await archive.keep(trail, { events: held });
      held = value.map(clean);
      continue;
    }
    if (!value.sawAll) {
      await archive.keep(trail, { events: held });
      throw new TrailError('the audit trail kept changing while it was read, so it was not read whole', {
        temporary: true,
      });
    }
    if (!seen.sawCursor) await seen.checkArchive();
    const now = archived.now + (channel.clockAhead() ?? 0);
    const head = seen.headAt(now);
    const gap = findGap(known, seen, now);
    added += await archive.keep(trail, { events: held, head, gap });
    return { added, head, ...(gap === undefined ? {} : { gap }) };
  }
}

/** What a poll has read. */
class Sight {
  readonly #known: ArchiveHead | undefined;
  readonly #told: () => Promise<string | undefined>;
  #organization: string | undefined;
  #newest: TrailEvent | undefined;
  #oldest: TrailEvent | undefined;
  /** whether the last event that the archive has is still there */
  sawCursor = false;

  constructor(known: ArchiveHead | undefined, told: () => Promise<string | undefined>) {
    this.#known = known;
    this.#told = told;
    this.#organization = known?.organizationId;
  }

  /** @throws TrailError when an event is of another organization than the others */
  async add(events: readonly TrailEvent[]): Promise<void> {
    this.#organization ??= await this.#told();
    for (const event of events) {
      this.#organization ??= event.organizationId;
      if (event.organizationId !== this.#organization) await this.checkArchive();
      refuseForeign(event, this.#organization);
      if (this.#newest === undefined || event.at > this.#newest.at) this.#newest = event;
      const isLater = this.#known === undefined || event.at > (provenUntil(this.#known) ?? 0);
      if (isLater && event.at < (this.#oldest?.at ?? Number.POSITIVE_INFINITY)) this.#oldest = event;
      if (event.id === this.#known?.cursor?.id) this.sawCursor = true;
    }
  }

  /**
   * Where something does not fit, the archive may have been filled with a wrong token without notice.
   * @throws TrailError when what it has is of another organization than the target's
   */
  async checkArchive(): Promise<void> {
    const kept = this.#known?.organizationId;
    const told = kept && (await this.#told());
    if (told === undefined || told === kept) return;
    throw new TrailError(
      `the archive has the trail of organization ${quoted(kept ?? '')} under this target, whose organization has the id ${quoted(told)}: name another archive`,
    );
  }

  get newest(): number | undefined {
    return this.#newest?.at;
  }

  /** of the events that the archive may lack */
  get oldest(): number | undefined {
    return this.#oldest?.at;
  }

  headAt(now: number): ArchiveHead {
    const organizationId = this.#organization;
    const { cursor } = this.#known ?? {};
    const newest = this.#newest && { at: this.#newest.at, id: this.#newest.id };
    const at = newest ?? cursor;
    const completeFrom = Math.min(horizonOf(this, now), this.#oldest?.at ?? now);
    return {
      ...(at === undefined ? {} : { cursor: at }),
      ...(organizationId === undefined ? {} : { organizationId }),
      readAt: now,
      completeFrom,
    };
  }
}

/**
 * Milliseconds since 1970: up to then the archive has what the service returned. An event with a time after the poll that read it, from
 * a wrong clock, proves nothing about what came in between. Undefined when the trail had no event.
 */
function provenUntil({ cursor, readAt }: ArchiveHead): number | undefined {
  return cursor && Math.min(cursor.at, readAt);
}

/** The service has removed what is older than this, or is about to. Its clock may be ahead of ours, as its newest event shows. */
function horizonOf({ newest = 0 }: Pick<Sight, 'newest'>, now: number): number {
  return Math.max(now, newest) - trailRetention;
}

/** Services remove events by their own clock, and not at once. */
const leeway = 24 * 3_600_000;

/**
 * Events are missing when the last one that the archive has is gone from the trail before its time, or when it is gone and the last
 * poll is so long ago that others may have come and gone since. A trail in which nothing happens loses nothing.
 */
function findGap(known: ArchiveHead | undefined, seen: Sight, now: number): TrailGap | undefined {
  if (known === undefined) return undefined;
  const { cursor, readAt } = known;
  const isAhead = cursor !== undefined && cursor.at > readAt;
  if (seen.sawCursor && !isAhead) return undefined;
  const horizon = seen.sawCursor ? now - trailRetention : horizonOf(seen, now);
  const gap = (from: number, why: string): TrailGap => ({
    from,
    to: Math.max(from, seen.oldest ?? now),
    noticedAt: now,
    why,
  });
  if (cursor !== undefined && !seen.sawCursor && cursor.at > horizon + leeway)
    return gap(cursor.at, 'the last event that was archived is gone from the trail before its time');
  if (readAt >= horizon) return undefined;
  return gap(
    isAhead ? readAt : Math.max(cursor?.at ?? 0, readAt),
    'the trail was last read longer ago than the service keeps events',
  );
}
