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
      `no archive is named: pass --to FILE.db or --to postgres, or name an archive in "spec.audit.archive" of stack ${quoted(stack.name)}`,
    );
  const opened = await openArchive(place, { directory: stack.directory, host, run: stops });
  try {
    const polling = { ...context, archive: opened, organizations: new Organizations(context) };
    if (!options.follow) return await pollArchive(polling);
    return await poll(context, options, async (limits) => {
      for (const each of await pollAll(polling, limits)) printResult(each, context, { quiet: true });
    });
  } finally {
    await opened.close();
  }
}

interface PollContext extends AuditContext {
  readonly archive: Archive;
  readonly organizations: Organizations;
}

interface PollResult extends TrailResult {
  readonly target: string;
}

async function pollArchive(polling: PollContext): Promise<ExitCode> {
  const { stack, host, stops, terminal, archive: kept, began } = polling;
  const deadline = openDeadline(stack.timeout, { now: host.now, began });
  try {
    const runEnded = AbortSignal.any([stops.runEnded, deadline.passed]);
    const results = await pollAll(polling, { ...stops, deadline, runEnded });
    for (const each of results) printResult(each, polling, { quiet: false });
    const trails = results.map(({ target, added, head, gap }) => ({
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

/** Polls the trails one after another: what one poll has stored stays if the next one fails. */
async function pollAll(
  { stack, host, targets, archive: kept, organizations }: PollContext,
  limits: ConnectionLimits,
) {
  const { trails, close } = await connectToAudit(stack, targets, host, limits);
  try {
    const results: PollResult[] = [];
    for (const { target, channel } of trails) {
      const clean = (event: TrailEvent) => redactEvent(event, host.clean);
      const organization = () => organizations.of(target, limits);
      const archived = {
        channel,
        archive: kept,
        trail: trailOf(target),
        now: host.now(),
        organization,
        clean,
      };
      results.push({ target: target.name, ...(await archiveTrail(archived)) });
    }
    return results;
  } finally {
    await close();
  }
}

/** @param options.quiet whether a poll without new events prints nothing */
function printResult(
  { target, added, head, gap }: PollResult,
  { terminal }: AuditContext,
  { quiet }: { readonly quiet: boolean },
): void {
  if (gap !== undefined) printWarnings(terminal, [gapWarning({ ...gap, target })]);
  if (terminal.format === 'json' || (quiet && added === 0)) return;
  const newest = head.cursor === undefined ? '' : `, up to ${timeText(head.cursor.at)}`;
  terminal.host.stdout.write(`${target}: ${counted(added, 'new event')}${newest}\n`);
}

// Archives a trail. One poll reads it page by page, from some time before the last archived event, because some events appear late. A
// page is stored when the next one was read. The last page is stored together with the new cursor, when no event can be missing. If a
// poll is killed, the next poll starts at the old cursor and reads the stored pages again.

interface ArchivedTrail {
  readonly channel: TrailChannel;
  readonly archive: Archive;
  /** the trail's name in the archive */
  readonly trail: string;
  /** the time of this machine, in milliseconds since 1970; stored times are by the clock of the service, if that is known */
  readonly now: number;
  /** The opaque id of the target's organization; undefined if not known. Called only if the archive has no id, or may have a wrong one. */
  readonly organization: () => Promise<string | undefined>;
  /** Removes the secrets that the run knows from an event, before it is stored. */
  readonly clean: (event: TrailEvent) => TrailEvent;
}

/** The result of one poll of a trail. */
interface TrailResult {
  readonly added: number;
  readonly head: ArchiveHead;
  readonly gap?: TrailGap;
}

/** @throws TrailError if not all events could be read, WireError, ArchiveError */
export async function archiveTrail(archived: ArchivedTrail): Promise<TrailResult> {
  const { channel, archive, trail, clean } = archived;
  const known = await archive.head(trail);
  const from = known && provenUntil(known);
  const reading = readTrail(channel, from === undefined ? {} : { since: from - trailOverlap - 1 });
  const progress = new PollProgress(known, () => archived.organization());
  let added = 0;
  let held: readonly TrailEvent[] = [];
  for (;;) {
    const { done, value } = await reading.next();
    if (!done) {
      await progress.add(value);
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
    if (!progress.sawCursor) await progress.checkArchive();
    const now = archived.now + (channel.clockAhead() ?? 0);
    const head = progress.headAt(now);
    const gap = findGap(known, progress, now);
    added += await archive.keep(trail, { events: held, head, gap });
    return { added, head, ...(gap === undefined ? {} : { gap }) };
  }
}

/** What a poll has read so far. */
class PollProgress {
  readonly #known: ArchiveHead | undefined;
  readonly #readOrganization: () => Promise<string | undefined>;
  #organization: string | undefined;
  #newest: TrailEvent | undefined;
  #oldest: TrailEvent | undefined;
  /** whether the last archived event is still in the trail */
  sawCursor = false;

  constructor(known: ArchiveHead | undefined, readOrganization: () => Promise<string | undefined>) {
    this.#known = known;
    this.#readOrganization = readOrganization;
    this.#organization = known?.organizationId;
  }

  /** @throws TrailError if an event is of another organization than the others */
  async add(events: readonly TrailEvent[]): Promise<void> {
    this.#organization ??= await this.#readOrganization();
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
   * For a trail that does not continue the archived one: the archive may have been filled with a token of another organization.
   * @throws TrailError if the archive has the trail of another organization than that of the target
   */
  async checkArchive(): Promise<void> {
    const archivedId = this.#known?.organizationId;
    const liveId = archivedId && (await this.#readOrganization());
    if (liveId === undefined || liveId === archivedId) return;
    throw new TrailError(
      `the archive has the trail of organization ${quoted(archivedId ?? '')} under this target, whose organization has the id ${quoted(liveId)}: name another archive`,
    );
  }

  get newest(): number | undefined {
    return this.#newest?.at;
  }

  /** time of the oldest event that the archive may lack */
  get oldest(): number | undefined {
    return this.#oldest?.at;
  }

  headAt(now: number): ArchiveHead {
    const organizationId = this.#organization;
    const newest = this.#newest && { at: this.#newest.at, id: this.#newest.id };
    const cursor = newest ?? this.#known?.cursor;
    const completeFrom = Math.min(horizonOf(this, now), this.#oldest?.at ?? now);
    return {
      ...(cursor === undefined ? {} : { cursor }),
      ...(organizationId === undefined ? {} : { organizationId }),
      readAt: now,
      completeFrom,
    };
  }
}

/**
 * The time up to which the archive has all that the service returned, in milliseconds since 1970. An event with a time after its poll,
 * from a wrong clock, proves nothing about the time in between. Undefined if the trail had no event.
 */
function provenUntil({ cursor, readAt }: ArchiveHead): number | undefined {
  return cursor && Math.min(cursor.at, readAt);
}

/** The service has removed events before this time, or will soon. Its clock may be ahead, so the time of its newest event counts, too. */
function horizonOf({ newest = 0 }: Pick<PollProgress, 'newest'>, now: number): number {
  return Math.max(now, newest) - trailRetention;
}

/** In milliseconds. An event is gone too early only if it had longer than this left: services remove events by clocks of their own. */
const leeway = 24 * 3_600_000;

/**
 * Events may be missing if the last archived event is gone from the trail too early, or if it is gone and the last poll is so long ago
 * that later events may have appeared and expired meanwhile. If it only expired after a recent poll, there is no gap.
 */
function findGap(known: ArchiveHead | undefined, progress: PollProgress, now: number): TrailGap | undefined {
  if (known === undefined) return undefined;
  const { cursor, readAt } = known;
  // From a wrong clock: the event has a later time than the poll that read it.
  const isAhead = cursor !== undefined && cursor.at > readAt;
  if (progress.sawCursor && !isAhead) return undefined;
  const horizon = progress.sawCursor ? now - trailRetention : horizonOf(progress, now);
  const gap = (from: number, why: string): TrailGap => ({
    from,
    to: Math.max(from, progress.oldest ?? now),
    noticedAt: now,
    why,
  });
  if (cursor !== undefined && !progress.sawCursor && cursor.at > horizon + leeway)
    return gap(cursor.at, 'the last event that was archived is gone from the trail before its time');
  if (readAt >= horizon) return undefined;
  return gap(
    isAhead ? readAt : Math.max(cursor?.at ?? 0, readAt),
    'the trail was last read longer ago than the service keeps events',
  );
}
