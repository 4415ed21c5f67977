/** Repositories that cannot be read, on the pages Fleet and Health: what the pages show of their stacks may be old. */
import { type Html, html } from './html.ts';
import { link } from './layout.ts';
import { clock, inScope, type Reading, type Row } from './reading.ts';

/** All unread repositories; for a viewer who sees only some stacks, those with such a stack. */
export function readUnread(reading: Reading): Promise<readonly Row[]> {
  return reading.rows(
    `with ${clock}
     select distinct on (given.name) given.name, given.problem, given.named, clock.time
     from trueup_fleet.repositories as given, clock
     where given.problem is not null and ($1::text[] is null or exists (
       select from trueup_fleet.stacks as stack
       where stack.repository = given.name and stack.removed is null and ${inScope('stack')}))
     order by given.name, given.named desc limit 100`,
  );
}

/** Names in the banner. More are only counted. */
const maxNames = 5;

/** @returns undefined if all can be read */
export async function unreadBanner(reading: Reading): Promise<Html | undefined> {
  const names = (await readUnread(reading)).map((row) => String(row['name']));
  if (names.length === 0) return undefined;
  const listed = names.slice(0, maxNames).join(', ');
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : '';
  return html`<p class="banner danger">Repositories that cannot be read: ${listed}${more}. What is shown of their stacks may be old. <a href="${link('/health', {})}">Why they cannot be read</a></p>`;
}
